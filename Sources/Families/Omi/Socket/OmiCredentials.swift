import HTTPTypes
import ScribeDomain
import ScribeHTTP

/// Authenticates a device or app (streaming.md 4.2).
///
/// Accepts tokens of this server, tokens of other issuers where the mode allows, and the admin key with any user id.
struct OmiCredentials: Sendable {
    let authenticator: Authenticator
    let adminKey: String?
    let firebase: ForeignTokens?
    let client: ClientID?

    /// Owner of the data of users that come without a client of this server.
    private var tenant: Principal {
        client.flatMap { authenticator.clients[$0]?.principal } ?? authenticator.clients.demoPrincipal
    }

    /// The principal of a request's bearer token.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func principal(in headers: HTTPFields) async throws -> Principal {
        try await principal(of: headers.bearerToken ?? "")
    }

    func principal(of token: String) async throws -> Principal {
        if let adminKey, !adminKey.isEmpty, token.utf8.starts(with: adminKey.utf8),
            token.utf8.count > adminKey.utf8.count,
            let user = String(token.utf8.dropFirst(adminKey.utf8.count)), user.isPlain, user.utf8.count <= 255
        {
            return tenant.acting(as: user)
        }
        if let user = try await firebaseUser(of: token), user.isPlain, user.utf8.count <= 255 {
            return tenant.acting(as: user)
        }
        if let principal = authenticator.clients.principal(ofKey: token) { return principal }
        let principal = try await authenticator.principal(offering: [token])
        // An unverified token of another issuer: its users are still kept apart.
        guard principal == authenticator.clients.demoPrincipal, let foreign = UnverifiedToken(token),
            firebase == nil, foreign.issuer != AccessTokens.issuer, let user = foreign.user, user.isPlain,
            user.utf8.count <= 255
        else { return principal }
        return principal.acting(as: user)
    }

    private func firebaseUser(of token: String) async throws -> String? {
        do {
            return try await firebase?.user(of: token, for: tenant.business)
        } catch {
            throw OmiError.keysUnavailable
        }
    }
}

extension Principal {
    fileprivate func acting(as user: String) -> Principal {
        Principal(business: business, user: UserID(user), doctor: doctor, client: client)
    }
}
