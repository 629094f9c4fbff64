import HTTPTypes
import Hummingbird

/// Routes by the components of their paths. Where a fixed component and a parameter match, the fixed one wins.
struct RouteTree: Sendable {
    /// The routes of one path.
    struct Endpoint: Sendable {
        fileprivate(set) var routes: [RouteGroup.Route] = []
        /// Whether the last component of the path begins other routes, as in the path of a link without its ticket.
        /// Then it is no parameter, and the path has no route.
        fileprivate(set) var isOnlyBeginning = false

        /// Names of the methods, sorted.
        var methods: [String] {
            let methods = routes.map(\.method)
            return (methods + (methods.contains(.get) ? [.head] : [])).map(\.rawValue).sorted()
        }

        /// The route of a method; `HEAD` has that of `GET`.
        subscript(method: HTTPRequest.Method) -> RouteGroup.Route? { isOnlyBeginning ? nil : route(of: method) }

        /// The reason why a method has no route.
        func problem(with method: HTTPRequest.Method) -> HTTPProblem {
            route(of: method) == nil ? .methodNotAllowed(allowed: methods) : .noSuchRoute
        }

        private func route(of method: HTTPRequest.Method) -> RouteGroup.Route? {
            routes.first { $0.method == method } ?? (method == .head ? routes.first { $0.method == .get } : nil)
        }
    }

    private struct Node: Sendable {
        var fixed: [Substring: Int] = [:]
        var parameter: Int?
        var endpoint = Endpoint()
    }

    private var nodes = [Node()]

    init(_ routes: [RouteGroup.Route]) {
        for route in routes {
            var node = 0
            for word in route.path {
                let known = word.hasPrefix("{") ? nodes[node].parameter : nodes[node].fixed[word]
                if known == nil { nodes.append(Node()) }
                let next = known ?? nodes.count - 1
                if word.hasPrefix("{") { nodes[node].parameter = next } else { nodes[node].fixed[word] = next }
                node = next
            }
            nodes[node].endpoint.routes.append(route)
        }
    }

    /// The routes of a path; nil for a path without any.
    func endpoint(at path: [Substring]) -> Endpoint? {
        endpoint(at: path[...], from: 0)
    }

    private func endpoint(at path: ArraySlice<Substring>, from node: Int) -> Endpoint? {
        guard let word = path.first else {
            return nodes[node].endpoint.routes.isEmpty ? nil : nodes[node].endpoint
        }
        if let next = nodes[node].fixed[word] {
            if let found = endpoint(at: path.dropFirst(), from: next) { return found }
            guard let parameter = nodes[node].parameter else { return nil }
            var found = endpoint(at: path.dropFirst(), from: parameter)
            if path.count == 1 { found?.isOnlyBeginning = true }
            return found
        }
        return nodes[node].parameter.flatMap { endpoint(at: path.dropFirst(), from: $0) }
    }
}
