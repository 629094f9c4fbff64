import Documents
import NIOPosix
package import ScribeHTTP
import ScribeRuntime

/// Routes about the server itself, without a token: health, readiness, metrics, CA certificate, API documents.
package struct StatusFamily: RoutedAPI {
    /// The OpenAPI document, `openapi/scribe.yaml`, as bytes.
    package static var openAPI: [UInt8] { document_scribe().bytes }

    /// Paths that supervisors and metric collectors poll.
    package static let probes: Set<String> = ["/livez", "/readyz", "/metrics", "/health", "/healthz"]

    /// Version and commit of the program, as in `scribe_build_info`.
    package struct Build: Hashable, Sendable {
        package let version: String
        package let commit: String

        package init(version: String, commit: String) {
            self.version = version
            self.commit = commit
        }
    }

    package let name = "Status"
    let environment: FamilyEnvironment
    let build: Build

    /// The vendor's own ping is a route of an emulated API.
    package func namespaceUse(of path: [Substring]) -> NamespaceUse { path == ["voice", "ping"] ? .all : .none }

    package let errors: any ErrorTable = StatusErrors()

    package func addRoutes(to routes: RouteGroup) {
        let group = routes.group(access: .open)
        let (environment, build) = (environment, build)
        HealthRoutes.add(
            to: group.routes { world in
                HealthRoutes(
                    runtime: world.runtime, engine: environment.engine, build: build, threads: .singleton,
                    authorityPEM: environment.authority, memory: environment.memory)
            })
        DocumentRoutes.add(to: group)
    }
}
