import Documents
package import Hummingbird
package import ScribeHTTP
package import ScribeRuntime

/// The door for everything that is not the emulated cloud: for operators, for tests, and for the verbs of the command
/// line (`openapi/control.yaml`).
package struct ControlFamily: RoutedAPI {
    /// What of it can be set.
    package struct Settings: Sendable {
        /// Nil: none is asked for.
        package var token: String?
        /// The host that the server listens on, by which it may be asked for.
        package var host: String
        /// The `settings` of `/__admin/info`: version, mode, ports and the like.
        package var about: @Sendable () -> [String: String]
        package var proxies: TrustedProxies

        package init(
            token: String?, host: String, about: @escaping @Sendable () -> [String: String], proxies: TrustedProxies
        ) {
            self.proxies = proxies
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

    private let runtime: Runtime
    private let settings: Settings

    package init(_ runtime: Runtime, settings: Settings) {
        self.runtime = runtime
        self.settings = settings
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { ControlErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group("\(Self.root)")
            .add(middleware: ErrorRendering(ControlErrors()))
            .add(middleware: ControlGate(settings: settings, throttle: LoginThrottle(clock: runtime.clock)))
        InfoRoutes(runtime: runtime, about: settings.about).add(to: group)
        WebhookControlRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: group)
        DeliveryControlRoutes(webhooks: runtime.webhooks, queries: runtime.queries).add(to: group)
    }
}
