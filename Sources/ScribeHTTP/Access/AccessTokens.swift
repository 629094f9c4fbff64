import Basics
package import Crypto
package import Foundation
import JWTKit
package import ScribeDomain

/// Issues and verifies access tokens: the JWTs of eka.md 1.3.
package struct AccessTokens: Sendable {
    package static let issuer = "scribe-emulator"
    private static let keyID = JWKIdentifier(string: "scribe-emulator")

    private let keys: JWTKeyCollection
    /// Claims of tokens with a valid signature. Each use checks the expiry again.
    private let verified = RecentValues<String, AccessClaims>(limit: 4096)
    private let clock: WorldClock
    private let namespace: NamespaceName?

    /// - Parameter namespace: Named in each token, so that a request with the token finds its world.
    package init(key: SymmetricKey, clock: WorldClock, namespace: NamespaceName? = nil) async {
        keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(key: key), digestAlgorithm: .sha256, kid: Self.keyID)
        self.clock = clock
        self.namespace = namespace
    }

    /// Result of verifying a token.
    package enum Verdict: Hashable, Sendable {
        /// A valid token of this server.
        case ours(Principal, version: String?, login: String?)
        /// A well-formed token of another issuer.
        case foreign
        case refused(reason: String)
    }

    /// Issues a token for the client's user. `exp` is in seconds, as Android compares it.
    /// - Parameters:
    ///   - lifetime: Validity in seconds.
    ///   - login: Name of the login; the token ends with it. nil for a token without a login.
    package func issue(
        to client: Client, version: String?, lifetime: TimeInterval, id: String, login: String? = nil
    ) async throws -> String {
        let now = clock.wall.now
        let claims = AccessClaims(
            client: client, version: version, issuedAt: now, expiresAt: now.addingTimeInterval(lifetime), id: id,
            login: login, offset: clock.offset, namespace: namespace)
        return try await keys.sign(claims, kid: Self.keyID)
    }

    package func verdict(on token: String) async -> Verdict {
        if let claims = verified[token] { return verdict(on: claims) }
        guard let parsed = UnverifiedToken(token) else { return .refused(reason: "The token is not a JWT") }
        guard parsed.issuer == Self.issuer || parsed.keyID == Self.keyID.string else { return .foreign }
        guard let claims = try? await keys.verify(token, as: AccessClaims.self) else {
            return .refused(reason: "The token's signature is not valid")
        }
        verified.remember(claims, of: token)
        return verdict(on: claims)
    }

    private func verdict(on claims: AccessClaims) -> Verdict {
        guard !clock.hasPassed(claims.exp, issuedAt: claims.offset) else {
            return .refused(reason: "The token has expired")
        }
        return .ours(claims.principal, version: claims.ver, login: claims.login)
    }
}

/// Claims that the server reads from an access token.
private struct AccessClaims: JWTPayload {
    struct Entitlements: Codable {
        var esc = 1
        var pst = 1
        var pex = 0
    }

    let iss: String
    let sub: String
    let jti: String
    let iat: TimeInterval
    let exp: TimeInterval
    let businessID: String
    let clientID: String
    let uuid: String
    let oid: String
    var cc = Entitlements()
    let workspaceID: String
    let workspace: String
    let fn: String
    /// Version of the client's registration.
    let ver: String?
    /// Login that the token came from; nil for a token without one.
    let login: String?
    /// Offset of the world's clock at issue, in seconds; absent for 0.
    let offset: TimeInterval?
    /// Namespace of the token; absent for the default world.
    let namespace: String?

    enum CodingKeys: String, CodingKey {
        case iss, sub, jti, iat, exp, uuid, oid, cc, fn, ver, login
        case namespace = "scribe-ns"
        case offset = "clk"
        case businessID = "b-id"
        case clientID = "c-id"
        case workspaceID = "w-id"
        case workspace = "w-n"
    }

    init(
        client: Client, version: String?, issuedAt: Date, expiresAt: Date, id: String, login: String?,
        offset: TimeInterval, namespace: NamespaceName?
    ) {
        let principal = client.principal
        iss = AccessTokens.issuer
        sub = principal.user.rawValue
        jti = id
        iat = issuedAt.timeIntervalSince1970.rounded(.down)
        exp = expiresAt.timeIntervalSince1970.rounded(.down)
        businessID = principal.business.rawValue
        clientID = principal.client.rawValue
        uuid = principal.user.rawValue
        oid = principal.doctor.rawValue
        workspaceID = principal.business.rawValue
        workspace = client.workspace
        fn = client.name
        ver = version
        self.login = login
        self.offset = offset == 0 ? nil : offset
        self.namespace = namespace?.rawValue
    }

    var principal: Principal {
        Principal(businessID: businessID, userID: uuid, doctorID: oid, clientID: clientID)
    }

    /// Checks nothing: ``AccessTokens/verdict(on:)`` compares the expiry with the server's clock.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}
