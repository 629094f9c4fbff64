import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeHTTP

/// Lets nobody in but operators: no web page, whatever its name leads to, and nobody without the token where one is asked
/// for.
struct ControlGate: RouterMiddleware {
    typealias Context = ScribeContext

    /// The host that the server listens on.
    let host: String
    /// Nil: none is asked for.
    let token: String?
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
        }
        guard request.isDeclaredAsJSON else { throw ControlError.notJSON }
        return try await next(request, context)
    }

    /// A page can be reached by a name of its own that leads here. It cannot be by an address, by `localhost`, or by a name
    /// without a dot, which nobody on the internet can have.
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

    /// Without a token, a browser's request must carry a header that only a script of an operator's page adds: an uploaded
    /// file that a browser opens has this origin too.
    private static func requireMark(_ headers: HTTPFields) throws(ControlError) {
        guard headers[.secFetchSite] == nil || headers[.scribeAdmin] == "1" else { throw .unmarked }
    }

    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``, ``HTTPProblem/tooManyAttempts(retryAfter:)``.
    private func requireToken(_ token: String, _ request: Request, _ context: ScribeContext) async throws {
        let refusal = HTTPProblem.unauthenticated(reason: "The admin token is needed: Authorization: Bearer …")
        guard request.headers[.authorization] != nil, let offered = request.headers.bearerToken else { throw refusal }
        try await throttle.attempt(
            ControlFamily.root, from: proxies.client(of: request, context), orThrow: refusal
        ) { Self.areEqual(offered, token) ? () : nil }
    }

    /// Whether a proxy has passed the request on: whoever is before that reaches this server as if from this machine.
    private static func isForwarded(_ headers: HTTPFields) -> Bool {
        headers.contains { field in
            let name = field.name.canonicalName
            return name == "forwarded" || name == "via" || name.hasPrefix("x-forwarded-") || name == "x-real-ip"
        }
    }

    /// Takes as long for a token that is nearly right.
    private static func areEqual(_ one: String, _ other: String) -> Bool {
        SHA256.hash(data: Data(one.utf8)) == SHA256.hash(data: Data(other.utf8))
    }
}
