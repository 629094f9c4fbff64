import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Resolves API keys and tokens to their owners, and issues granted tokens (streaming.md 1.2).
///
/// A granted token is a short-lived token that the owner of an API key asks for.
struct ListenAuthentication: Sendable {
    private static let purpose = "listen"

    let world: World

    /// The owner of an API key, a granted token or a login's access token.
    /// - Parameter allowsGrantedTokens: false for routes that are not part of Deepgram's API.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func principal(_ credentials: ListenCredentials, allowsGrantedTokens: Bool = true) async throws -> Principal {
        if let key = credentials.key {
            if let principal = world.authenticator.clients.principal(ofKey: key) { return principal }
            if allowsGrantedTokens, credentials.isBearer, let principal = granted(key) { return principal }
        }
        return try await world.authenticator.principal(offering: [credentials.key].compactMap(\.self))
    }

    /// The owner of the API key that asks for a granted token.
    /// - Throws: ``ListenError/notPermitted`` for a granted token, ``HTTPProblem/unauthenticated(reason:)``.
    func keyOwner(_ credentials: ListenCredentials) throws -> Principal {
        guard let key = credentials.key else { throw HTTPProblem.unauthenticated(reason: "No key was sent") }
        if granted(key) != nil { throw ListenError.notPermitted }
        guard let principal = world.authenticator.clients.principal(ofKey: key) else {
            throw HTTPProblem.unauthenticated(reason: "The key is not known")
        }
        return principal
    }

    /// Issues a token that admits to live recognition only.
    /// - Parameter lifetime: Validity in seconds.
    func grant(to principal: Principal, lifetime: Int) throws -> String {
        try world.tickets.issue(Self.purpose, for: "listen", to: principal, lifetime: Double(lifetime))
    }

    /// The owner of a granted token; nil once its client is no longer configured.
    private func granted(_ token: String) -> Principal? {
        guard let principal = world.tickets.redeem(token, Self.purpose)?.principal,
            world.authenticator.clients[principal.client]?.principal == principal
        else { return nil }
        return principal
    }
}
