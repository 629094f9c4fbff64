import Basics
import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/connect-auth/v1/account`: logs clients in, refreshes tokens and logs out (eka.md 1.3).
struct AccountRoutes: Sendable {
    /// Grace period of a rotated refresh token, in seconds.
    static let refreshGrace: TimeInterval = 60
    /// Largest body, in bytes. Small, since its sender has no token yet.
    static let bodyLimit = 16 << 10

    let tokenIssuer: TokenIssuer
    let environment: FamilyEnvironment
    let throttle: LoginThrottle

    private var store: Store { tokenIssuer.store }
    private var secrets: ClientSecrets { tokenIssuer.secrets }
    private var pages: PageOrigins { environment.pages }

    /// Adds the routes.
    /// - Parameter pages: Routes of the vendor's login page, with the error envelope of that page.
    static func add(to router: WorldRoutes<Self>, pages: WorldRoutes<Self>) {
        router.group("connect-auth/v1/account")
            .post("login", use: login)
            .post("refresh-token", use: refresh)
            .post("refresh", use: refresh)
            .post("logout", use: logout)
        // Paths of the desktop app.
        router.post("connect-auth/v1/refresh", use: refresh)
        router.get("connect-auth/v1/auth-mode", use: mode)
        pages.post("connect-auth/v1/login", use: logInFromPage)
    }

    @Sendable private func mode(_ request: Request, _ context: ScribeContext) async throws -> Response {
        .json(.ok, Self.authMode)
    }

    /// Login methods for the vendor's web app: name and secret only.
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

    /// The refresh token in the body. The vendor's web app sends `{}` and its cookies instead (eka.md 1.3).
    private struct RefreshBody: Decodable {
        let refreshToken: String?

        enum CodingKeys: String, CodingKey {
            case refreshToken = "refresh_token"
        }
    }

    @Sendable private func login(_ request: Request, context: ScribeContext) async throws -> Response {
        // JSON needs a CORS preflight. A form does not, so any page could log its reader in as another client.
        if !request.isDeclaredAsJSON { try pages.requireLogin(request, context) }
        let body: LoginBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let client = try await client(
            body.clientID, body.clientSecret, orThrow: EkaError.invalidClient, request, context)
        return try await tokenIssuer.answer(to: client, inCookies: cookies(of: request, context))
    }

    private struct PageLoginBody: Decodable {
        let username: String
        let password: String
    }

    /// Logs in from the vendor's login page: user name is the client id, password its secret (reference-backend.md
    /// section 8).
    @Sendable private func logInFromPage(_ request: Request, context: ScribeContext) async throws -> Response {
        try pages.requireLogin(request, context)
        guard request.isDeclaredAsJSON else { throw HTTPProblem.notJSON }
        let body: PageLoginBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let client = try await client(
            body.username, body.password, orThrow: EkaError.invalidCredentials, request, context)
        return try await tokenIssuer.answer(to: client, inCookies: cookies(of: request, context), saysSuccess: true)
    }

    /// Checks a client's secret, within the login throttle.
    /// - Throws: `refusal`, ``HTTPProblem/tooManyAttempts(retryAfter:)``.
    private func client(
        _ id: String, _ secret: String, orThrow refusal: EkaError, _ request: Request, _ context: ScribeContext
    ) async throws -> Client {
        try await throttle.attempt(
            secret, of: id, from: environment.proxies.client(of: request, context), orThrow: refusal
        ) {
            guard id.isPlain, let known = try await store.accounts.client(ClientID(id)),
                secrets.isSecret(secret, of: known.client.principal.client, hash: known.secretHash)
            else { return nil }
            return known.client
        }
    }

    /// Rotates a refresh token. An expired access token may come along in header or body; it is ignored (C-83).
    @Sendable private func refresh(_ request: Request, context: ScribeContext) async throws -> Response {
        let body: RefreshBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        guard let old = try body.refreshToken ?? keptRefreshToken(request, context) else {
            throw ScribeError.invalidRequest(field: "refresh_token", problem: "is required")
        }
        // A token sent twice within the grace (a lost answer, parallel requests) gets the same successor both times.
        let refreshToken = tokenIssuer.namespace.mark(Base64URL.encode(Data(secrets.successor(ofToken: old))))
        let outcome = try await store.accounts.rotateRefreshToken(
            hash: secrets.hash(ofToken: old), to: secrets.hash(ofToken: refreshToken),
            RefreshPeriod(lifetime: tokenIssuer.lifetimes.refreshToken, by: tokenIssuer.clock), grace: Self.refreshGrace
        )
        if case .reused(let login) = outcome { tokenIssuer.clients.end(logins: [login]) }
        guard case .rotated(let client, let login) = outcome else { throw EkaError.refreshRefused }
        return try await tokenIssuer.answer(
            to: client, refreshToken: refreshToken, of: login,
            inCookies: cookies(of: request, context, isByCookie: body.refreshToken == nil))
    }

    /// Ends the login. Its last access token stays valid until it expires.
    @Sendable private func logout(_ request: Request, context: ScribeContext) async throws -> Response {
        let body = try await request.decodeOptionalJSON(as: RefreshBody.self, in: context)
        if let token = try body?.refreshToken ?? keptRefreshToken(request, context, isEmpty: body == nil) {
            try await store.accounts.endLogin(ofRefreshToken: secrets.hash(ofToken: token))
        }
        var response = Response.json(.ok, ["status": "success"] as JSON)
        let isByCookie = body?.refreshToken == nil && SessionCookies(request.headers).refreshToken != nil
        if let cookies = cookies(of: request, context, isByCookie: isByCookie) {
            SessionCookies.forget(isSecure: cookies.isSecure, below: cookies.path, in: &response)
        }
        return response
    }

    /// The refresh token that a browser keeps in a cookie for a page.
    /// - Throws: ``HTTPProblem/foreignPage``, ``HTTPProblem/notJSON`` if the cookie must not be used.
    private func keptRefreshToken(
        _ request: Request, _ context: ScribeContext, isEmpty: Bool = false
    ) throws -> String? {
        guard let token = SessionCookies(request.headers).refreshToken else { return nil }
        try pages.require(request, context)
        if !isEmpty { try request.requireJSON(by: .cookie) }
        return token
    }

    /// The kind of the answer's cookies; nil if the answer sets no cookies.
    ///
    /// Without this check any page could log its reader in as another client.
    /// - Parameter isByCookie: The page already used valid cookies, which the new ones replace.
    private func cookies(of request: Request, _ context: ScribeContext, isByCookie: Bool = false) -> CookieScope? {
        guard isByCookie || pages.admitToLogin(request, context) else { return nil }
        return CookieScope(
            isSecure: environment.origin.base(of: request, context).hasPrefix("https:"), path: context.linkPath)
    }
}
