import Basics
import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Kind of the cookies that a login sets.
struct CookieScope: Hashable {
    /// Whether the cookies are for encrypted connections only.
    let isSecure: Bool
    /// Path of the pages that send them; empty for all pages.
    let path: String
}

/// Issues the access and refresh tokens of a login (eka.md 1.3).
struct TokenIssuer: Sendable {
    let world: World
    let lifetimes: TokenLifetimes

    var store: Store { world.runtime.store }
    var tokens: AccessTokens { world.authenticator.tokens }
    var clients: KnownClients { world.authenticator.clients }
    var secrets: ClientSecrets { world.secrets }
    var identifiers: IdentifierSource { world.runtime.identifiers.random }
    var clock: WorldClock { world.runtime.clock }
    /// Namespace that marks issued tokens; nil for the default world.
    var namespace: NamespaceName? { world.namespace }

    /// Answers a new login: issues both tokens and stores the refresh token's hash.
    /// - Parameters:
    ///   - cookies: nil to set no cookies.
    ///   - saysSuccess: Whether the body has `"status": "success"`.
    func answer(
        to client: Client, inCookies cookies: CookieScope? = nil, saysSuccess: Bool = false
    ) async throws -> Response {
        let refreshToken = namespace.mark(identifiers.secret())
        let login = secrets.hash(ofToken: refreshToken)
        try await store.accounts.saveRefreshToken(
            hash: login, of: client.principal.client, RefreshPeriod(lifetime: lifetimes.refreshToken, by: clock))
        return try await answer(
            to: client, refreshToken: refreshToken, of: login, inCookies: cookies, saysSuccess: saysSuccess)
    }

    /// Responds with a new access token and the given refresh token, which must be stored already.
    /// - Parameter login: The hash of the login's first refresh token.
    func answer(
        to client: Client, refreshToken: String, of login: [UInt8], inCookies cookies: CookieScope?,
        saysSuccess: Bool = false
    ) async throws -> Response {
        let accessToken = try await tokens.issue(
            to: client, version: clients[client.principal.client]?.version,
            lifetime: lifetimes.accessToken, id: identifiers.uuid(), login: KnownClients.name(ofLogin: login))
        var response = Response.json(
            .ok,
            [
                "access_token": .string(accessToken), "refresh_token": .string(refreshToken),
                "expires_in": .integer(Int(lifetimes.accessToken)),
                "refresh_expires_in": .integer(Int(lifetimes.refreshToken)), "token_type": "Bearer",
                "status": saysSuccess ? "success" : nil,
            ])
        if let cookies {
            SessionCookies.keep(
                accessToken: accessToken, refreshToken: refreshToken, lifetime: Int(lifetimes.refreshToken),
                isSecure: cookies.isSecure, below: cookies.path, in: &response)
        }
        return response
    }
}
