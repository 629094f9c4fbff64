import HTTPTypes
import Logging
import ScribeRuntime
import ScribeStore
import ServerTestSupport
import TestSupport

@testable import ScribeHTTP
@testable import ScribeServer

/// A route of a server's families, with a value in place of each path parameter.
struct EmulatedRoute: Sendable {
    let method: HTTPRequest.Method
    /// Method and path as the documents have them.
    let pattern: String
    let path: String
    let access: RouteAccess?

    var isOfOperator: Bool { path.hasPrefix("/__admin/") }

    var isOpen: Bool {
        if case .open = access { true } else { false }
    }

    /// Whether a token in a header opens it.
    var isChecked: Bool {
        if case .checked = access { true } else { false }
    }

    private init(_ route: RouteGroup.Route) {
        let words = route.path.joined(separator: "/")
        let id = words.hasPrefix("api/v1/ambient/session") ? DocumentedOperation.ambientSession : "t"
        method = route.method
        pattern = "\(method) /\(words)"
        path = "/" + words.replacing("{txn_id}", with: id).replacing(/\{[a-z_]+\}/, with: "t")
        access = route.access
    }

    /// Every route of every family.
    static func all() async throws -> [EmulatedRoute] {
        let server = try TestServer()
        let (emulator, directory, _) = try await open(
            server.configuration,
            .init(clock: server.manual.clock, identifiers: .counting(), logger: Logger(label: "test")))
        defer { try? directory.main.runtime.store.close() }
        return emulator.families.compactMap { $0 as? RoutedFamily }.flatMap(\.routes).map(EmulatedRoute.init)
    }
}
