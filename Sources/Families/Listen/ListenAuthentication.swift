import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Whose a key or a token is, and the tokens that a key's owner lends to a browser (streaming.md 1.2).
struct ListenAuthentication: Sendable {
    private static let purpose = "listen"

    let authenticator: Authenticator
    let tickets: Tickets

    init(_ world: World) {
        authenticator = world.authenticator
        tickets = world.tickets
    }

    /// Whose they are: a key's, a granted token's, or a login's.
    /// - Parameter takesGranted: false for what is no part of Deepgram's API.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func principal(_ credentials: ListenCredentials, takesGranted: Bool = true) async throws -> Principal {
        if let key = credentials.key {
            if let principal = authenticator.clients.principal(ofKey: key) { return principal }
            if takesGranted, credentials.isBearer, let principal = granted(key) { return principal }
        }
        return try await authenticator.principal(offering: [credentials.key].compactMap(\.self))
    }

    /// The principal whose API key asks for a token.
    /// - Throws: ``ListenError/notPermitted`` for a granted token, ``HTTPProblem/unauthenticated(reason:)``.
    func granter(_ credentials: ListenCredentials) throws -> Principal {
        guard let key = credentials.key else { throw HTTPProblem.unauthenticated(reason: "No key was sent") }
        if granted(key) != nil { throw ListenError.notPermitted }
        guard let principal = authenticator.clients.principal(ofKey: key) else {
            throw HTTPProblem.unauthenticated(reason: "The key is not known")
        }
        return principal
    }

    /// A token for live recognition and nothing else.
    /// - Parameter lifetime: in seconds.
    func grant(to principal: Principal, lifetime: Int) throws -> String {
        try tickets.issue(Self.purpose, for: "listen", to: principal, lifetime: Double(lifetime))
    }

    /// The owner of a granted token, while its client is known.
    private func granted(_ token: String) -> Principal? {
        guard let principal = tickets.redeem(token, Self.purpose)?.principal,
            authenticator.clients[principal.client]?.principal == principal
        else { return nil }
        return principal
    }
}
