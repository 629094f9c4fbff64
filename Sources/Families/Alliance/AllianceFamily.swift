import HTTPTypes
package import Hummingbird
import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime

/// The MedScribe Alliance session protocol (`/voice/v1`, medscribe.md).
package struct AllianceFamily: RoutedAPI {
    package let name = "Alliance"
    package let reservedPaths: [[Substring]] = [["voice", "v1"]]

    private let runtime: Runtime
    private let authenticator: Authenticator

    package init(_ runtime: Runtime, authenticator: Authenticator) {
        self.runtime = runtime
        self.authenticator = authenticator
    }

    package func errorStyle(for path: [Substring]) -> any ErrorStyle { AllianceErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let authenticated = router.group()
            .add(middleware: ErrorRendering(style: AllianceErrors()))
            .add(middleware: Authentication(authenticator) { [$0.bearerToken].compactMap(\.self) })
            .add(middleware: ErrorRendering(style: AllianceErrors()))
        WebhookRoutes(webhooks: runtime.webhooks).add(to: authenticated)
    }
}
