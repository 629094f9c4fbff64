import Foundation
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// The tokens that a login ends with (eka.md 1.3).
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

    /// Both tokens of a new login.
    /// - Parameter isSecure: nil where no cookies go with it; else whether they are for encrypted connections only.
    /// - Parameter saysSuccess: whether the body says that it worked.
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

    /// A new access token for a login that goes on.
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
