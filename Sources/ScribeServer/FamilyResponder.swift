import HTTPTypes
import Hummingbird
import ScribeDomain

/// Host and path decide which API a request belongs to: the routes' own first words mean the scribe API, everything
/// else, and every host that names a bucket, means S3.
struct FamilyResponder: HTTPResponder {
    typealias Context = ScribeContext

    private let scribe: RouterResponder<ScribeContext>
    private let s3: S3Responder
    let routes: [(method: HTTPRequest.Method, path: [Substring])]
    private let firstWords: Set<Substring>

    init(router: Router<ScribeContext>, s3: S3Responder) {
        scribe = router.buildResponder()
        self.s3 = s3
        routes = router.routes.map { ($0.method, Self.words($0.path.description[...])) }
        // The rest of these families is yet to come; an unknown route of theirs is no upload.
        firstWords = Set(routes.compactMap(\.path.first)).union(["voice", "connect-auth", "v1", "notification"])
    }

    func respond(to request: Request, context: ScribeContext) async throws -> Response {
        let path = Self.words(request.uri.path[...])
        let isBucketHost = AudioLocation.bucket(ofVirtualHost: request.head.authority ?? "") != nil
        guard !isBucketHost, firstWords.contains(path.first ?? "") else {
            return try await s3.respond(to: request, context: context)
        }
        let response = try await scribe.respond(to: request, context: context)
        // What the router says instead of a route's path when it has found none.
        return context.endpointPath == "NotFound" ? try noRoute(path, context) : response
    }

    private func noRoute(_ path: [Substring], _ context: ScribeContext) throws -> Response {
        let style: any ErrorStyle = path.first == "connect-auth" ? AccountErrors() : EkaErrors()
        let allowed = routes.filter { Self.matches(path, $0.path) }.map(\.method.rawValue).sorted()
        if !allowed.isEmpty {
            return try style.response(to: .methodNotAllowed(allowed: allowed.removingDuplicates()), context: context)
        }
        let hint = "No such route; /openapi.yaml lists what is served"
        return try style.response(to: .routeNotFound(hint: hint), context: context)
    }

    private static func words(_ path: Substring) -> [Substring] { path.split(separator: "/") }

    private static func matches(_ path: [Substring], _ route: [Substring]) -> Bool {
        path.count == route.count && zip(path, route).allSatisfy { $0 == $1 || $1.hasPrefix("{") }
    }
}
