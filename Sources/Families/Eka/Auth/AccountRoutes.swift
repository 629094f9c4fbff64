import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/connect-auth/v1/account`: login and refresh (eka.md 1.3).
struct AccountRoutes: Sendable {
    /// How long a rotated refresh token is still honoured, in seconds.
    static let refreshGrace: TimeInterval = 60
    /// In bytes: whoever sends it has no token yet.
    private static let bodyLimit = 16 << 10

    let store: Store
    let queries: Queries
    let throttle: LoginThrottle
    let secrets: ClientSecrets
    let issuing: TokenIssuing
    let lifetimes: TokenLifetimes
    let origin: LinkOrigin
    let pages: PageOrigins
    let proxies: TrustedProxies
    let clock: WorldClock

    /// - Parameter pages: for what the vendor's login page asks, in the envelope that it reads.
    static func add(to router: WorldRoutes<Self>, pages: WorldRoutes<Self>) {
        pages.post("connect-auth/v1/login", use: logInFromPage)
        router.group("connect-auth/v1/account")
            .post("login", use: login)
            .post("refresh-token", use: refresh)
            .post("refresh", use: refresh)
            .post("logout", use: logout)
        // The desktop app's.
        router.post("connect-auth/v1/refresh", use: refresh)
        router.get("connect-auth/v1/auth-mode", use: mode)
    }

    @Sendable private func mode(_ request: Request, _ context: ScribeContext) async throws -> Response {
        .json(.ok, Self.authMode)
    }

    /// How the vendor's web app may let people log in: with a name and a secret, and nothing beside it.
    private static let authMode: JSON = [
        "oidc_enabled": false, "oidc_login_url": .null, "oidc_display_name": "Single sign-on", "providers": [],
        "allow_signup": false, "login_url": "/auth/login",
    ]

    private struct LoginBody: Decodable {
        let clientID: String
        let clientSecret: String

        enum CodingKeys: String, CodingKey {
            case clientID = "client_id"
            case clientSecret = "client_secret"
        }
    }

    /// The vendor's web app sends `{}`, and its cookies (eka.md 1.3).
    private struct RefreshBody: Decodable {
        let refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case refreshToken = "refresh_token"
        }
    }

    @Sendable private func login(_ request: Request, context: ScribeContext) async throws -> Response {
        // A form of any page could log its reader in as somebody else; JSON is asked for beforehand.
        if !request.isDeclaredAsJSON { try pages.requireLogin(request, context) }
        let body: LoginBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let client = try await client(
            body.clientID, body.clientSecret, orThrow: EkaError.invalidClient, request, context)
        return try await issuing.answer(to: client, inSecureCookies: cookies(of: request, context))
    }

    private struct PageLoginBody: Decodable {
        let username: String
        let password: String
    }

    /// The vendor's login page, whose user is a client here and whose password its secret (reference-backend.md section 8).
    @Sendable private func logInFromPage(_ request: Request, context: ScribeContext) async throws -> Response {
        try pages.requireLogin(request, context)
        guard request.isDeclaredAsJSON else { throw HTTPProblem.notJSON }
        let body: PageLoginBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let client = try await client(
            body.username, body.password, orThrow: EkaError.invalidCredentials, request, context)
        return try await issuing.answer(to: client, inSecureCookies: cookies(of: request, context), saysSuccess: true)
    }

    /// - Throws: `refusal`, ``HTTPProblem/tooManyAttempts(retryAfter:)``.
    private func client(
        _ id: String, _ secret: String, orThrow refusal: EkaError, _ request: Request, _ context: ScribeContext
    ) async throws -> Client {
        try await throttle.attempt(id, from: proxies.client(of: request, context), orThrow: refusal) {
            guard id.isPlain, let known = try await queries.accounts.client(ClientID(id)),
                secrets.isSecret(secret, of: known.client.principal.client, hash: known.secretHash)
            else { return nil }
            return known.client
        }
    }

    /// An expired access token may come along in header or body; it is not looked at (C-83).
    @Sendable private func refresh(_ request: Request, context: ScribeContext) async throws -> Response {
        let body: RefreshBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        guard let old = try body.refreshToken ?? keptRefreshToken(request, context) else {
            throw ScribeError.invalidRequest(field: "refresh_token", problem: "is required")
        }
        // Whoever sends the same one again within the grace, because an answer was lost or in parallel, gets the same
        // successor.
        let refreshToken = Base64URL.encode(Data(secrets.successor(ofToken: old)))
        let client = try await store.rotateRefreshToken(
            hash: secrets.hash(ofToken: old), to: secrets.hash(ofToken: refreshToken),
            RefreshPeriod(lifetime: lifetimes.refreshToken, by: clock), grace: Self.refreshGrace
        )
        guard let client else { throw EkaError.refreshRefused }
        return try await issuing.answer(
            to: client, refreshToken: refreshToken,
            inSecureCookies: cookies(of: request, context, isByCookie: body.refreshToken == nil))
    }

    /// Ends the login. Its last access token counts until it expires.
    @Sendable private func logout(_ request: Request, context: ScribeContext) async throws -> Response {
        let body = try await request.decodeOptionalJSON(as: RefreshBody.self, in: context)
        if let token = try body?.refreshToken ?? keptRefreshToken(request, context, isEmpty: body == nil) {
            try await store.endLogin(ofRefreshToken: secrets.hash(ofToken: token))
        }
        var response = Response.json(.ok, ["status": "success"] as JSON)
        let isByCookie = body?.refreshToken == nil && SessionCookies(request.headers).refreshToken != nil
        if let isSecure = cookies(of: request, context, isByCookie: isByCookie) {
            SessionCookies.forget(isSecure: isSecure, in: &response)
        }
        return response
    }

    /// The refresh token that a browser keeps for a page.
    /// - Throws: ``HTTPProblem/foreignPage``, ``HTTPProblem/notJSON`` where there is one and it decides nothing.
    private func keptRefreshToken(
        _ request: Request, _ context: ScribeContext, isEmpty: Bool = false
    ) throws -> String? {
        guard let token = SessionCookies(request.headers).refreshToken else { return nil }
        try pages.require(request, context)
        if !isEmpty { try request.requireJSON(by: .cookie) }
        return token
    }

    /// Whether the cookies of an answer are for encrypted connections only; nil where none are set, or a page could log its
    /// reader in as somebody else.
    /// - Parameter isByCookie: whether the page may use those that it has, in whose place the new ones come.
    private func cookies(of request: Request, _ context: ScribeContext, isByCookie: Bool = false) -> Bool? {
        guard isByCookie || pages.admitToLogin(request, context) else { return nil }
        return origin.base(of: request, context).hasPrefix("https:")
    }
}
