import Documents
package import Hummingbird
package import ScribeHTTP
import ScribeRuntime

/// The door for everything that is not the emulated cloud: for operators, for tests, and for the verbs of the command
/// line (`openapi/control.yaml`).
package struct ControlFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// What operators have to show; nil where none is asked for.
        package var token: String?
        /// The host that the server listens on, by which it may be asked for.
        package var host: String
        /// The `settings` of `/__admin/info`: version, mode, ports and the like.
        package var about: @Sendable () -> [String: String]

        package init(
            token: String?, host: String, about: @escaping @Sendable () -> [String: String]
        ) {
            self.token = token
            self.host = host
            self.about = about
        }
    }

    /// `openapi/control.yaml`.
    package static var openAPI: [UInt8] { document_control().bytes }
    /// The first word of every path.
    package static let root = "__admin"

    package let name = "Control"
    package let reservedPaths: [[Substring]] = [[Substring(ControlFamily.root)]]

    private let environment: FamilyEnvironment
    private let settings: Settings

    init(_ environment: FamilyEnvironment, settings: Settings) {
        self.environment = environment
        self.settings = settings
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { ControlErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group("\(Self.root)")
            .add(middleware: ErrorRendering(ControlErrors()))
            .add(
                middleware: ControlGate(
                    host: settings.host, token: settings.token, proxies: environment.proxies,
                    throttle: LoginThrottle(clock: environment.clock)))
        InfoRoutes.add(to: group.routes { [about = settings.about] in InfoRoutes(runtime: $0.runtime, about: about) })
        WebhookControlRoutes.add(
            to: group.routes { WebhookControlRoutes(webhooks: $0.runtime.webhooks, queries: $0.runtime.queries) })
        DeliveryControlRoutes.add(
            to: group.routes { DeliveryControlRoutes(webhooks: $0.runtime.webhooks, queries: $0.runtime.queries) })
    }
}
