import HTTPTypes
package import Hummingbird
package import ScribeDomain

/// An API made of routes, claimed by their paths.
package protocol RoutedAPI: Sendable {
    var name: String { get }
    /// Suffixes of hosts that belong to this API wholly, such as `.eka.care`.
    var hostSuffixes: [String] { get }
    /// Path prefixes that this API claims without having such a route, beside the first two and three components of its
    /// routes.
    var reservedPaths: [[Substring]] { get }
    /// Use of namespaces by a path.
    func namespaceUse(of path: [Substring]) -> NamespaceUse

    /// Credentials of a request that may name a namespace.
    /// - Parameter path: Components of the path.
    func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials

    /// Principal that a request names; nil without a valid credential.
    /// - Parameter path: Components of the path.
    func principal(of request: Request, _ path: [Substring], in world: World) async -> Principal?

    /// Whether the first message of a socket at a path may name its namespace.
    func namesWorldLate(_ path: [Substring]) -> Bool

    /// The error table of routes whose group declares no other, and of paths that resemble no route.
    var errors: any ErrorTable { get }

    /// Adds the routes, in groups that declare their access and errors.
    func addRoutes(to routes: RouteGroup)
}

extension RoutedAPI {
    package var hostSuffixes: [String] { [] }
    package var reservedPaths: [[Substring]] { [] }
    package func namespaceUse(of path: [Substring]) -> NamespaceUse { .all }
    package func namesWorldLate(_ path: [Substring]) -> Bool { false }
    package func credentials(of request: Request, _ path: [Substring]) -> OfferedCredentials {
        OfferedCredentials(head: [request.headers.bearerToken])
    }
    package func principal(of request: Request, _ path: [Substring], in world: World) async -> Principal? {
        try? await world.authenticator.principal(offering: credentials(of: request, path).head)
    }
}

/// Serves a ``RoutedAPI`` as a family.
package struct RoutedFamily: Family {
    package let name: String
    /// The routes, without those of `HEAD`.
    package let routes: [RouteGroup.Route]
    private let api: any RoutedAPI
    private let responder: RouterResponder<ScribeContext>
    /// Beginnings of paths, of at most three components with slashes between.
    private let prefixes: Set<String>
    private let hostSuffixes: [String]

    package init(_ api: some RoutedAPI) {
        let table = RouteGroup.Table()
        api.addRoutes(to: RouteGroup(table, errors: api.errors))
        self.api = api
        name = api.name
        hostSuffixes = api.hostSuffixes
        responder = table.router.buildResponder()
        routes = table.routes
        let beginnings =
            api.reservedPaths
            + routes.flatMap { route in [2, 3].map { Array(route.path.prefix { !$0.hasPrefix("{") }.prefix($0)) } }
        prefixes = Set(beginnings.filter { !$0.isEmpty }.map { $0.joined(separator: "/") })
    }

    package func claim(on address: RequestAddress) -> RouteClaim? {
        // A path that is a prefix as a whole, however short, is claimed as strongly as a long one.
        if let longest = address.beginnings.last, prefixes.contains(longest) { return .path(words: 3) }
        for (index, beginning) in address.beginnings.enumerated().dropFirst().dropLast().reversed()
        where prefixes.contains(beginning) {
            return .path(words: index + 1)
        }
        if let host = address.host, hostSuffixes.contains(where: host.hasSuffix) { return .host }
        return address.beginnings.first.map(prefixes.contains) ?? false ? .word : nil
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let response = try await responder.respond(to: request, context: context)
        do {
            // Hummingbird's endpoint path for a request without a route.
            if context.endpointPath == "NotFound" {
                throw context.refusal ?? noRoute(RequestAddress(request).path)
            }
            return try await context.holding(response)
        } catch  where !error.isBrokenRequest {
            return errors(near: RequestAddress(request).path, request, context).response(to: error, context)
        }
    }

    /// The error table of the routes that share the most components with a path, from its start.
    private func errors(near path: [Substring], _ request: Request, _ context: ScribeContext) -> any ErrorTable {
        var best: (route: RouteGroup.Route, shared: Int)?
        for route in routes {
            let shared = zip(path, route.path).prefix { $0 == $1 || $1.hasPrefix("{") }.count
            if shared > best?.shared ?? 0 { best = (route, shared) }
        }
        return best?.route.errors(request, context) ?? api.errors
    }

    package func namespaceUse(of address: RequestAddress) -> NamespaceUse { api.namespaceUse(of: address.path) }

    package func namesWorldLate(_ request: Request) -> Bool {
        request.headers.wantsWebSocket && api.namesWorldLate(RequestAddress(request).path)
    }

    package func credentials(of address: RequestAddress) -> OfferedCredentials {
        api.credentials(of: address.request, address.path)
    }

    package func principal(of request: Request, in world: World) async -> Principal? {
        await api.principal(of: request, RequestAddress(request).path, in: world)
    }

    /// Has the route itself refuse the request, so that the answer is the one that its handler would give.
    package func response(
        to error: any Error, of request: Request, _ context: ScribeContext
    ) async throws -> Response {
        let endpoint = context.endpointPath
        defer { context.coreContext.endpointPath.value = endpoint }
        var context = context
        context.refusal = error
        return try await respond(to: request, context: context)
    }

    private func noRoute(_ path: [Substring]) -> HTTPProblem {
        let matching = routes.filter { Self.matches(path, $0.path) }
        // A route with fixed components hides routes with parameters.
        let fewest = matching.map { Self.parameters(in: $0.path) }.min()
        let methods = matching.filter { Self.parameters(in: $0.path) == fewest }.map(\.method)
        let allowed = (methods + (methods.contains(.get) ? [.head] : [])).map(\.rawValue).sorted()
        return allowed.isEmpty
            ? .routeNotFound(hint: "No such route; /openapi.yaml lists what is served")
            : .methodNotAllowed(allowed: allowed.removingDuplicates())
    }

    private static func parameters(in path: [Substring]) -> Int { path.count { $0.hasPrefix("{") } }

    private static func matches(_ path: [Substring], _ route: [Substring]) -> Bool {
        path.count == route.count && zip(path, route).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}
