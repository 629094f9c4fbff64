import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// `/connect-auth/v1/account`: login and refresh (eka.md 1.3).
struct AccountRoutes: Sendable {
    /// How long a rotated refresh token is still honoured, in seconds.
    static let refreshGrace: TimeInterval = 60
    /// In bytes: whoever sends it has no token yet.
    private static let bodyLimit = 16 << 10

    let store: Store
    let throttle: LoginThrottle
    let secrets: ClientSecrets
    let issuing: TokenIssuing
    let lifetimes: TokenLifetimes
    let origin: LinkOrigin
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.group("connect-auth/v1/account")
            .post("login", use: login)
            .post("refresh-token", use: refresh)
            .post("refresh", use: refresh)
            .post("logout", use: logout)
        // The desktop app's.
        router.post("connect-auth/v1/refresh", use: refresh)
        router.get("connect-auth/v1/auth-mode") { _, _ in try Response.json(.ok, AuthModeBody()) }
    }

    /// How the vendor's web app may let people log in: with a name and a secret, and nothing beside it.
    private struct AuthModeBody: Encodable {
        struct Provider: Encodable {}

        let hasOpenID = false
        let openIDName = "Single sign-on"
        let providers: [Provider] = []
        let allowsSignup = false
        let loginURL = "/auth/login"

        enum CodingKeys: String, CodingKey {
            case providers
            case hasOpenID = "oidc_enabled"
            case openIDURL = "oidc_login_url"
            case openIDName = "oidc_display_name"
            case allowsSignup = "allow_signup"
            case loginURL = "login_url"
        }

        func encode(to encoder: any Encoder) throws {
            var mode = encoder.container(keyedBy: CodingKeys.self)
            try mode.encode(hasOpenID, forKey: .hasOpenID)
            try mode.encodeNil(forKey: .openIDURL)
            try mode.encode(openIDName, forKey: .openIDName)
            try mode.encode(providers, forKey: .providers)
            try mode.encode(allowsSignup, forKey: .allowsSignup)
            try mode.encode(loginURL, forKey: .loginURL)
        }
    }

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
        let body: LoginBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        let client = try await throttle.attempt(body.clientID, from: context.address) { () -> Client? in
            guard body.clientID.isPlain, let known = try await store.client(ClientID(body.clientID)),
                secrets.isSecret(body.clientSecret, of: known.client.principal.client, hash: known.secretHash)
            else { return nil }
            return known.client
        }
        return try await issuing.answer(to: client, inSecureCookies: isSecure(request, context))
    }

    /// An expired access token may come along in header or body; it is not looked at (C-83).
    @Sendable private func refresh(_ request: Request, context: ScribeContext) async throws -> Response {
        let body: RefreshBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        guard let old = body.refreshToken ?? SessionCookies(request.headers).refreshToken else {
            throw ScribeError.invalidRequest(field: "refresh_token", problem: "is required")
        }
        // Whoever sends the same one again within the grace, because an answer was lost or in parallel, gets the same
        // successor.
        let refreshToken = Base64URL.encode(Data(secrets.successor(ofToken: old)))
        let now = clock.now
        let client = try await store.rotateRefreshToken(
            hash: secrets.hash(ofToken: old), to: secrets.hash(ofToken: refreshToken), now: now,
            expiresAt: now.addingTimeInterval(lifetimes.refreshToken), grace: Self.refreshGrace
        )
        guard let client else { throw EkaError.refreshRefused }
        return try await issuing.answer(
            to: client, refreshToken: refreshToken, inSecureCookies: isSecure(request, context))
    }

    /// Ends the login. Its last access token counts until it expires.
    @Sendable private func logout(_ request: Request, context: ScribeContext) async throws -> Response {
        let body = try await request.decodeOptionalJSON(as: RefreshBody.self, in: context)
        if let token = body?.refreshToken ?? SessionCookies(request.headers).refreshToken {
            try await store.endLogin(ofRefreshToken: secrets.hash(ofToken: token))
        }
        var response = try Response.json(.ok, ["status": "success"])
        SessionCookies.forget(isSecure: isSecure(request, context), in: &response)
        return response
    }

    private func isSecure(_ request: Request, _ context: ScribeContext) -> Bool {
        origin.base(of: request, context).hasPrefix("https:")
    }
}
