import Documents
package import Hummingbird
import NIOPosix
import ScribeDomain
package import ScribeHTTP
import ScribeRuntime

/// What is asked of the server itself, without a token: is it there, is it ready, what does it speak.
package struct StatusFamily: RoutedAPI {
    /// `openapi/scribe.yaml`.
    package static var openAPI: [UInt8] { document_scribe().bytes }

    /// The routes of supervisors and collectors.
    package static let probes: Set<String> = ["/livez", "/readyz", "/metrics", "/health", "/healthz"]

    /// The program that runs, as `scribe_build_info` names it.
    package struct Build: Hashable, Sendable {
        package let version: String
        package let commit: String

        package init(version: String, commit: String) {
            self.version = version
            self.commit = commit
        }
    }

    package let name = "Status"
    private let environment: FamilyEnvironment
    private let build: Build
    private let authority: String?

    init(_ environment: FamilyEnvironment, build: Build, authority: String?) {
        self.environment = environment
        self.build = build
        self.authority = authority
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { StatusErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        let group = router.group().add(middleware: ErrorRendering(StatusErrors()))
        let (environment, build, authority) = (environment, build, authority)
        HealthRoutes.add(
            to: group.routes { world in
                HealthRoutes(
                    runtime: world.runtime, engine: environment.engine, build: build, threads: .singleton,
                    authority: authority, memory: environment.memory)
            })
        DocumentRoutes.add(to: group)
    }
}
