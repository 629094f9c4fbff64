import HTTPTypes
import Hummingbird
import ScribeDomain

/// Host and path decide which API a request belongs to: the routes' own first words mean the scribe API, everything
/// else, and every host that names a bucket, means S3.
struct FamilyResponder: HTTPResponder {
    typealias Context = ScribeContext

    private let scribe: RouterResponder<ScribeContext>
    private let s3: S3Responder
    private let bodies: BodyBudget
    let routes: [(method: HTTPRequest.Method, path: [Substring])]
    /// What the paths of the scribe API begin with; every other path is an object's.
    private let prefixes: Set<[Substring]>

    init(router: Router<ScribeContext>, s3: S3Responder, bodies: BodyBudget) {
        scribe = router.buildResponder()
        self.s3 = s3
        self.bodies = bodies
        routes = router.routes.map { ($0.method, Self.words($0.path.description[...])) }
        // Words that are reserved as they are: an unknown route of these families is no upload. Of the others two
        // words count, for a bucket may well be called `health`.
        let reserved: [[Substring]] = [
            ["voice"], ["connect-auth"], ["v1"], ["notification"], ["dr"], ["profile", "get"],
        ]
        prefixes = Set(reserved + routes.map { Array($0.path.prefix(2)) })
    }

    func respond(to request: Request, context: ScribeContext) async throws -> Response {
        var context = context
        context.body = BodyShare(of: bodies)
        let path = Self.words(request.uri.path[...])
        let isBucketHost = AudioLocation.bucket(ofVirtualHost: request.authority) != nil
        guard !isBucketHost,
            request.isAtVendorHost || prefixes.contains(Array(path.prefix(1)))
                || prefixes.contains(Array(path.prefix(2)))
        else {
            return try await s3.respond(to: request, context: context)
        }
        let response = try await scribe.respond(to: request, context: context)
        // What the router says instead of a route's path when it has found none.
        return context.endpointPath == "NotFound" ? try noRoute(path, context) : response
    }

    private func noRoute(_ path: [Substring], _ context: ScribeContext) throws -> Response {
        let style: any ErrorStyle = path.first == "connect-auth" ? AccountErrors() : EkaErrors()
        let matching = routes.filter { Self.matches(path, $0.path) }
        // A path that is spelled out hides those with parameters.
        let fewest = matching.map { Self.parameters(in: $0.path) }.min()
        let allowed = matching.filter { Self.parameters(in: $0.path) == fewest }.map(\.method.rawValue).sorted()
        if !allowed.isEmpty {
            return try style.response(to: .methodNotAllowed(allowed: allowed.removingDuplicates()), context: context)
        }
        let hint = "No such route; /openapi.yaml lists what is served"
        return try style.response(to: .routeNotFound(hint: hint), context: context)
    }

    private static func words(_ path: Substring) -> [Substring] { path.split(separator: "/") }

    private static func parameters(in path: [Substring]) -> Int { path.count { $0.hasPrefix("{") } }

    private static func matches(_ path: [Substring], _ route: [Substring]) -> Bool {
        path.count == route.count && zip(path, route).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}
