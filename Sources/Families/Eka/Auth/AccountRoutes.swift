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
    let tokens: AccessTokens
    let clients: KnownClients
    let throttle: LoginThrottle
    let secrets: ClientSecrets
    let lifetimes: TokenLifetimes
    let identifiers: IdentifierSource
    let clock: ScribeClock

    func add(to router: RouterGroup<ScribeContext>) {
        router.group("connect-auth/v1/account")
            .post("login", use: login)
            .post("refresh-token", use: refresh)
            .post("refresh", use: refresh)
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

    private struct RefreshBody: Decodable {
        let refreshToken: String

        enum CodingKeys: String, CodingKey {
            case refreshToken = "refresh_token"
        }
    }

    private struct TokensBody: Encodable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Int
        let refreshExpiresIn: Int
        let tokenType = "Bearer"

        enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case expiresIn = "expires_in"
            case refreshExpiresIn = "refresh_expires_in"
            case tokenType = "token_type"
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
        let refreshToken = Self.token(of: identifiers.bytes(32))
        let now = clock.now
        try await store.saveRefreshToken(
            hash: secrets.hash(ofToken: refreshToken), of: client.principal.client, now: now,
            expiresAt: now.addingTimeInterval(lifetimes.refreshToken)
        )
        return try await answer(client, refreshToken: refreshToken, now: now)
    }

    /// An expired access token may come along in header or body; it is not looked at (C-83).
    @Sendable private func refresh(_ request: Request, context: ScribeContext) async throws -> Response {
        let body: RefreshBody = try await request.decodeJSON(upTo: Self.bodyLimit, in: context)
        // Whoever sends the same one again within the grace, because an answer was lost or in parallel, gets the same
        // successor.
        let refreshToken = Self.token(of: secrets.successor(ofToken: body.refreshToken))
        let now = clock.now
        let client = try await store.rotateRefreshToken(
            hash: secrets.hash(ofToken: body.refreshToken), to: secrets.hash(ofToken: refreshToken), now: now,
            expiresAt: now.addingTimeInterval(lifetimes.refreshToken), grace: Self.refreshGrace
        )
        guard let client else { throw EkaError.refreshRefused }
        return try await answer(client, refreshToken: refreshToken, now: now)
    }

    private static func token(of bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .trimmingCharacters(in: ["="])
    }

    private func answer(_ client: Client, refreshToken: String, now: Date) async throws -> Response {
        let expiry = now.addingTimeInterval(lifetimes.accessToken)
        let accessToken = try await tokens.issue(
            to: client, version: clients.registrations[client.principal.client]?.version, expiresAt: expiry,
            id: identifiers.uuid())
        return try .json(
            .ok,
            TokensBody(
                accessToken: accessToken, refreshToken: refreshToken, expiresIn: Int(lifetimes.accessToken),
                refreshExpiresIn: Int(lifetimes.refreshToken)
            )
        )
    }
}
