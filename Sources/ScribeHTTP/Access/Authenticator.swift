import Foundation
package import ScribeDomain

/// Resolves access tokens to principals, for all families.
package struct Authenticator: Sendable {
    package let tokens: AccessTokens
    package let mode: AuthMode
    package let clients: KnownClients

    package init(tokens: AccessTokens, mode: AuthMode, clients: KnownClients) {
        self.tokens = tokens
        self.mode = mode
        self.clients = clients
    }

    /// Resolves a request's tokens to the principal that the request acts for.
    /// - Parameter offered: All tokens of the request; one valid token is enough.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    package func principal(offering offered: [String]) async throws -> Principal {
        let offered = offered.filter { !$0.isEmpty }
        guard !offered.isEmpty else {
            guard mode == .open else { throw HTTPProblem.unauthenticated(reason: "No token was sent") }
            return clients.demoPrincipal
        }
        var reason = ""
        var isForeign = false
        for token in offered.removingDuplicates() {
            switch await tokens.verdict(on: token) {
            case .ours(_, _, let login?) where clients.hasEnded(login: login):
                reason = "The login of the token has ended: a refresh token of it was used twice"
            case .ours(let principal, let version, _):
                if clients[principal.client]?.isCurrent(principal, version: version) == true { return principal }
                reason = "The token's client is not known any more"
            case .foreign where mode != .strict: isForeign = true
            case .foreign: reason = "The token was not issued here"
            case .refused(let why): reason = why
            }
        }
        if isForeign { return clients.demoPrincipal }
        throw HTTPProblem.unauthenticated(reason: reason)
    }
}
