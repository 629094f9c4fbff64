package import HTTPTypes
package import Hummingbird
import ScribeDomain

/// An API that is a list of routes, told by their paths.
package protocol RoutedAPI: Sendable {
    var name: String { get }
    /// What ends the host names by which everything that comes is this API's, such as `.eka.care`.
    var hostSuffixes: [String] { get }
    /// First words of paths that are this API's though there is no such route, beside the first two and three words
    /// of each route that there is.
    var reservedPaths: [[Substring]] { get }

    /// The table of a path's errors; also of a path without a route.
    func errorTable(for path: [Substring]) -> any ErrorTable

    /// Adds the routes, each behind what finds out who calls and what renders errors.
    func addRoutes(to router: Router<ScribeContext>)
}

extension RoutedAPI {
    package var hostSuffixes: [String] { [] }
    package var reservedPaths: [[Substring]] { [] }
}

/// Serves a ``RoutedAPI``.
package struct RoutedFamily: Family {
    package let name: String
    package let routes: [(method: HTTPRequest.Method, path: [Substring])]
    private let api: any RoutedAPI
    private let responder: RouterResponder<ScribeContext>
    private let prefixes: Set<[Substring]>
    /// Most paths are another family's, which these tell at once.
    private let firstWords: Set<Substring>

    package init(_ api: some RoutedAPI) {
        let router = Router(context: ScribeContext.self, options: .autoGenerateHeadEndpoints)
        api.addRoutes(to: router)
        self.api = api
        name = api.name
        responder = router.buildResponder()
        routes = router.routes.map { ($0.method, Self.words($0.path.description[...])) }
        prefixes = Set(
            api.reservedPaths
                + routes.flatMap { route in [2, 3].map { Array(route.path.prefix { !$0.hasPrefix("{") }.prefix($0)) } })
        firstWords = Set(prefixes.compactMap(\.first))
    }

    package func claim(on address: RequestAddress) -> Claim? {
        if let first = address.path.first, firstWords.contains(first) {
            for words in [3, 2, 1] where prefixes.contains(Array(address.path.prefix(words))) {
                return .path(words: words)
            }
        }
        return address.authority.isHost(endingIn: api.hostSuffixes) ? .host : nil
    }

    package func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let response = try await responder.respond(to: request, context: context)
        do {
            // What the router says instead of a route's path when it has found none.
            if context.endpointPath == "NotFound" { throw noRoute(RequestAddress(request).path) }
            return try await context.holding(response)
        } catch let problem as HTTPProblem {
            return api.errorTable(for: RequestAddress(request).path).response(to: problem, context)
        }
    }

    private func noRoute(_ path: [Substring]) -> HTTPProblem {
        let matching = routes.filter { Self.matches(path, $0.path) }
        // A path that is spelled out hides those with parameters.
        let fewest = matching.map { Self.parameters(in: $0.path) }.min()
        let allowed = matching.filter { Self.parameters(in: $0.path) == fewest }.map(\.method.rawValue).sorted()
        return allowed.isEmpty
            ? .routeNotFound(hint: "No such route; /openapi.yaml lists what is served")
            : .methodNotAllowed(allowed: allowed.removingDuplicates())
    }

    private static func words(_ path: Substring) -> [Substring] { path.split(ascii: "/") }

    private static func parameters(in path: [Substring]) -> Int { path.count { $0.hasPrefix("{") } }

    private static func matches(_ path: [Substring], _ route: [Substring]) -> Bool {
        path.count == route.count && zip(path, route).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}
