import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Admits only operators: rejects requests from web pages, and requests without the token if one is required.
struct OperatorAuthentication: RouterMiddleware {
    typealias Context = ScribeContext

    /// The host that the server listens on.
    let host: String
    /// The bearer token to require; nil if none is required.
    let token: String?
    /// Whether routes that give data of tenants away are closed without a token.
    let isStrict: Bool
    let proxies: TrustedProxies
    let throttle: LoginThrottle

    func handle(
        _ request: Request, context: ScribeContext, next: @concurrent (Request, ScribeContext) async throws -> Response
    ) async throws -> Response {
        guard isOwn(host: request.authority) else { throw ControlError.foreignHost }
        guard Self.isFromNoOtherPage(request.headers, host: request.authority) else { throw ControlError.foreignPage }
        if let token {
            try await requireToken(token, request, context)
        } else {
            if Self.isForwarded(request.headers) { throw ControlError.forwarded }
            try Self.requireMark(request.headers)
            guard !isStrict || !Self.givesDataAway(request) else { throw ControlError.tokenNeeded }
        }
        let path = RequestAddress(request).path
        if path.dropFirst().first == "playbacks", request.method == .post {
            guard request.headers[.contentType] == SocketRecording.contentType else { throw ControlError.notRecording }
        } else if path.dropFirst().first == "snapshots", path.last == "content", request.method == .put {
            guard request.headers[.contentType] == SnapshotRoutes.contentType else { throw ControlError.notArchive }
        } else {
            guard request.isDeclaredAsJSON else { throw ControlError.notJSON }
        }
        // The routes about namespaces name theirs in the path.
        if let error = context.namespaceError, RequestAddress(request).path.dropFirst().first != "namespaces" {
            throw error
        }
        return try await next(request, context)
    }

    /// Whether the host is an address, `localhost`, a name without a dot, or the server's own host.
    ///
    /// A web page can point its own domain here (DNS rebinding). It cannot do so with any of these.
    private func isOwn(host authority: String) -> Bool {
        guard let place = HostAndPort(authority) else { return false }
        return place.isAddress || !place.host.contains(".") || place.host.hasSuffix(".localhost")
            || place.host == host.lowercased()
    }

    private static func isFromNoOtherPage(_ headers: HTTPFields, host: String) -> Bool {
        if let site = headers[.secFetchSite], !["same-origin", "none"].contains(site.lowercased()) { return false }
        guard let origin = headers[.origin]?.lowercased() else { return true }
        return ["http", "https"].contains { origin == "\($0)://\(host.lowercased())" }
    }

    /// First words of routes about data of tenants.
    private static let tenantData: Set<Substring> = [
        "snapshots", "seed", "objects", "transactions", "fixtures", "requests", "playbacks",
    ]

    /// Whether a route gives data of tenants away: an exported snapshot has them, a restored one brings them into
    /// another namespace, and a seeded client may be of any business.
    private static func givesDataAway(_ request: Request) -> Bool {
        RequestAddress(request).path.dropFirst().first.map { Self.tenantData.contains($0) } ?? false
    }

    /// Requires the header that only scripts of an operator's page add, for browser requests without a token.
    ///
    /// The origin alone proves nothing: an uploaded file that a browser opens has this origin too.
    private static func requireMark(_ headers: HTTPFields) throws(ControlError) {
        guard headers[.secFetchSite] == nil || headers[.scribeAdmin] == "1" else { throw .unmarked }
    }

    /// Requires the admin token.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``, ``HTTPProblem/tooManyAttempts(retryAfter:)``.
    private func requireToken(_ token: String, _ request: Request, _ context: ScribeContext) async throws {
        let refusal = HTTPProblem.unauthenticated(reason: "The admin token is needed: Authorization: Bearer …")
        guard request.headers[.authorization] != nil, let offered = request.headers.bearerToken else { throw refusal }
        try await throttle.attempt(
            ControlFamily.root, from: proxies.client(of: request, context), orThrow: refusal
        ) { Self.areEqual(offered, token) ? () : nil }
    }

    /// Whether a proxy forwarded the request: its client may be remote, though the connection is local.
    private static func isForwarded(_ headers: HTTPFields) -> Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-") || name == "x-real-ip"
        }
    }

    /// Compares hashes, so that the time does not depend on how much of the token is right.
    private static func areEqual(_ one: String, _ other: String) -> Bool {
        SHA256.hash(data: Data(one.utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}
