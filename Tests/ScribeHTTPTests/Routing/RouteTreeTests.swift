import Basics
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import ScribeHTTP

struct RouteTreeTests {
    private static func tree(_ routes: [(HTTPRequest.Method, String)]) -> RouteTree {
        let table = RouteGroup.Table()
        let group = RouteGroup(table, errors: StatusLikeErrors())
        for (method, path) in routes { group.add(method, path) { _, _ in Response(status: .ok) } }
        return RouteTree(table.routes)
    }

    private let tree = Self.tree([
        (.get, "a/{id}"), (.get, "a/new"), (.post, "a/{name}"), (.get, "a/links/{ticket}"), (.get, "a/{id}/b"),
    ])

    private func route(_ method: HTTPRequest.Method, _ path: String) -> String? {
        let words = path[...].split(ascii: "/")
        guard let route = tree.endpoint(at: words)?[method] else { return nil }
        return
            ([route.pattern]
            + route.path.compactMap { route.parameters(in: words).get(String($0.dropFirst().dropLast())) })
            .joined(separator: " ")
    }

    @Test("a fixed component wins over a parameter, and a parameter is taken where the fixed one leads nowhere")
    func precedence() {
        #expect(route(.get, "a/new") == "/a/new")
        #expect(route(.get, "a/x%20y") == "/a/{id} x%20y")
        #expect(route(.get, "a/links/b") == "/a/links/{ticket} b")
        #expect(route(.get, "a/new/b") == "/a/{id}/b new")
    }

    @Test("each method of a path has its own parameters, and HEAD those of GET")
    func methods() {
        #expect(route(.post, "a/x") == "/a/{name} x")
        #expect(route(.head, "a/x") == "/a/{id} x")
        #expect(route(.put, "a/x") == nil)
        #expect(tree.endpoint(at: ["a", "x"])?.methods == ["GET", "HEAD", "POST"])
    }

    @Test("a path that ends where routes only begin has no route, and says which methods others like it have")
    func beginnings() throws {
        let endpoint = try #require(tree.endpoint(at: ["a", "links"]))
        #expect(endpoint.problem(with: .get) == .noSuchRoute)
        #expect(endpoint.problem(with: .put) == .methodNotAllowed(allowed: ["GET", "HEAD", "POST"]))
        for path in ["", "a", "a/links", "a/x/c", "a/links/x/y", "b"] { #expect(route(.get, path) == nil, "\(path)") }
    }
}

/// Errors of any family.
struct StatusLikeErrors: ErrorTable {
    func envelope(_ refusal: Refusal, _ context: ScribeContext) -> JSON { ["code": .string(refusal.code)] }
}
