import Documents
package import Engines
package import Hummingbird
package import NIOPosix
package import ScribeDomain
package import ScribeHTTP
package import ScribeRuntime
package import ScribeStore

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
    private let routes: HealthRoutes

    /// - Parameter authority: what clients are to trust, as PEM; nil where the certificate is somebody else's, or none.
    package init(
        _ runtime: Runtime, reserve: StorageReserve, transcriber: any Transcriber, noteWriter: any NoteWriter,
        build: Build, threads: NIOThreadPool, authority: String?, memory: MemoryBudget
    ) {
        routes = HealthRoutes(
            runtime: runtime, reserve: reserve, transcriber: transcriber, noteWriter: noteWriter, build: build,
            threads: threads, authority: authority, memory: memory)
    }

    package func errorTable(for path: [Substring]) -> any ErrorTable { StatusErrors() }

    package func addRoutes(to router: Router<ScribeContext>) {
        routes.add(to: router.group().add(middleware: ErrorRendering(StatusErrors())))
    }
}
