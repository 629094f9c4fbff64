import Documents
package import Hummingbird
package import ScribeHTTP
import ScribeRuntime

/// The door for everything that is not the emulated cloud: for operators, for tests, and for the verbs of the command
/// line (`openapi/control.yaml`).
package struct ControlFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// Nil: one that is kept in the data folder, and none while only this machine reaches the server.
        package var token: String?
        /// The host that the server listens on, by which it may be asked for.
        package var host: String
        /// The `settings` of `/__admin/info`: version, mode, ports and the like.
        package var about: @Sendable () -> [String: String]
        /// Whether only this machine reaches the server.
        package var isLoopback: Bool

        package init(
            token: String?, host: String, isLoopback: Bool, about: @escaping @Sendable () -> [String: String]
        ) {
            self.token = token
            self.host = host
            self.isLoopback = isLoopback
            self.about = about
        }
    }

    /// `openapi/control.yaml`.
    package static var openAPI: [UInt8] { document_control().bytes }
    /// The first word of every path.
    package static let root = "__admin"

    package let name = "Control"
    package let reservedPaths: [[Substring]] = [[Substring(ControlFamily.root)]]

    private let runtime: Runtime
    private let settings: Settings
    private let token: String?
    private let proxies: TrustedProxies

    /// - Parameter token: what operators have to show; nil where none is asked for.
    init(_ environment: FamilyEnvironment, token: String?, settings: Settings) {
        runtime = environment.runtime
        proxies = environment.proxies
        self.token = token
        self.settings = settings
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { ControlErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group("\(Self.root)")
            .add(middleware: ErrorRendering(ControlErrors()))
            .add(
                middleware: ControlGate(
                    host: settings.host, token: token, proxies: proxies, throttle: LoginThrottle(clock: runtime.clock)))
        InfoRoutes(runtime: runtime, about: settings.about).add(to: group)
        WebhookControlRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: group)
        DeliveryControlRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: group)
    }
}
