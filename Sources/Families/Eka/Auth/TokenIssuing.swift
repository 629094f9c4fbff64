import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Issues the access and refresh tokens of a login (eka.md 1.3).
struct TokenIssuing: Sendable {
    let store: Store
    let tokens: AccessTokens
    let clients: KnownClients
    let secrets: ClientSecrets
    let lifetimes: TokenLifetimes
    let identifiers: IdentifierSource
    let clock: WorldClock

    init(_ world: World, lifetimes: TokenLifetimes) {
        store = world.runtime.store
        tokens = world.authenticator.tokens
        clients = world.authenticator.clients
        secrets = world.secrets
        identifiers = world.runtime.identifiers
        clock = world.runtime.clock
        self.lifetimes = lifetimes
    }

    /// Answers a new login with both tokens.
    /// - Parameters:
    ///   - isSecure: Whether the cookies are for encrypted connections only; nil to set no cookies.
    ///   - saysSuccess: Whether the body has `"status": "success"`.
    func answer(
        to client: Client, inSecureCookies isSecure: Bool? = nil, saysSuccess: Bool = false
    ) async throws -> Response {
        let refreshToken = Base64URL.encode(Data(identifiers.bytes(32)))
        try await store.saveRefreshToken(
            hash: secrets.hash(ofToken: refreshToken), of: client.principal.client,
            RefreshPeriod(lifetime: lifetimes.refreshToken, by: clock))
        return try await answer(
            to: client, refreshToken: refreshToken, inSecureCookies: isSecure, saysSuccess: saysSuccess)
    }

    /// Answers a refresh with a new access token.
    func answer(
        to client: Client, refreshToken: String, inSecureCookies isSecure: Bool?, saysSuccess: Bool = false
    ) async throws -> Response {
        let accessToken = try await tokens.issue(
            to: client, version: clients[client.principal.client]?.version,
            lifetime: lifetimes.accessToken, id: identifiers.uuid())
        var response = Response.json(
            .ok,
            [
                "access_token": .string(accessToken), "refresh_token": .string(refreshToken),
                "expires_in": .integer(Int(lifetimes.accessToken)),
                "refresh_expires_in": .integer(Int(lifetimes.refreshToken)), "token_type": "Bearer",
                "status": saysSuccess ? "success" : nil,
            ])
        if let isSecure {
            SessionCookies.keep(
                accessToken: accessToken, refreshToken: refreshToken, lifetime: Int(lifetimes.refreshToken),
                isSecure: isSecure, in: &response)
        }
        return response
    }
}
