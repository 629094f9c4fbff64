import Basics
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
    package let beginnings: [[Substring]]
    package var hostSuffixes: [String] { api.hostSuffixes }
    private let api: any RoutedAPI
    private let tree: RouteTree

    package init(_ api: some RoutedAPI) {
        let table = RouteGroup.Table()
        api.addRoutes(to: RouteGroup(table, errors: api.errors))
        self.api = api
        name = api.name
        routes = table.routes
        tree = RouteTree(routes)
        beginnings =
            api.reservedPaths
            + routes.flatMap { route in [2, 3].map { Array(route.path.prefix { !$0.hasPrefix("{") }.prefix($0)) } }
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let path = context.place(of: request).path
        let endpoint = tree.endpoint(at: path)
        let route = endpoint?[request.method]
        do {
            guard let route else {
                if let refusal = context.refusal { throw refusal }
                throw await Self.problem(with: request, endpoint, path, context)
            }
            context.coreContext.parameters = route.parameters(in: path)
            context.coreContext.endpointPath.value = route.pattern
            // What has refused the request already needs no further reason.
            if context.contractMode != .off, context.refusal == nil {
                await context.beginValidation(of: request, route)
            }
            return try await context.holding(context.validated(route.respond(to: request, context)))
        } catch {
            if let route {
                context.repeatedAnswer = nil
                return try await context.validated(
                    try route.errors(request, context).response(toThrown: error, context))
            }
            guard !error.isBrokenRequest else { throw error }
            context.coreContext.endpointPath.value = "NotFound"
            return errors(near: path, request, context).response(to: error, context)
        }
    }

    /// The reason why a request has no route, with the nearest one where refusals are explained.
    private static func problem(
        with request: Request, _ endpoint: RouteTree.Endpoint?, _ path: [Substring], _ context: ScribeContext
    ) async -> HTTPProblem {
        let problem = endpoint?.problem(with: request.method) ?? .noSuchRoute
        guard case .routeNotFound = problem, let routes = context.routes else { return problem }
        // A path of many long words is compared with all words of all routes.
        let match = await EventLoopOffload.run(bytes: .max) { routes.match(request.method.rawValue, path) }
        guard let match else { return problem }
        return .routeNotFound(
            hint: "No such route; the nearest is \(match.method) \(match.path), and /openapi.yaml lists what is served")
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
        context.refusal = error
        defer {
            context.refusal = nil
            context.coreContext.endpointPath.value = endpoint
        }
        return try await respond(to: request, context: context)
    }
}

extension HTTPProblem {
    static var noSuchRoute: HTTPProblem { .routeNotFound(hint: "No such route; /openapi.yaml lists what is served") }
}
