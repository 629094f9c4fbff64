package import Crypto
package import Foundation
import JWTKit
package import ScribeDomain

/// Temporary S3 credentials (eka.md 2.11).
///
/// Nothing of them is stored: the session token says whose they are and until when, and the secret follows from the
/// access key id. They therefore survive a restart, as clients that fetch them once per session need (C-76).
package struct UploadCredentials: Sendable {
    package struct Credentials: Hashable, Sendable {
        package let accessKeyID: String
        package let secretKey: String
        package let sessionToken: String
        package let expiration: Date
    }

    /// In seconds; 12 h outlast a consultation (eka.md 10.12).
    package let lifetime: TimeInterval
    private let clients: KnownClients
    private let mode: AuthMode
    private let keys = JWTKeyCollection()
    /// The claims of tokens with a valid signature. Each use checks the expiry anew.
    private let verified = RecentValues<String, SessionClaims>(limit: 4096)
    /// Signing keys by the credential of their scope.
    private let signingKeys = RecentValues<String, SymmetricKey>(limit: 4096)
    private let secretsKey: SymmetricKey
    private let identifiers: IdentifierSource
    private let clock: WorldClock

    /// - Parameters:
    ///   - key: kept in the data folder; what is derived from it is of no use for access tokens.
    ///   - clients: those whose credentials count, also if they were issued before the last start.
    ///   - mode: which of them requests may act for.
    package init(
        key: SymmetricKey, clients: KnownClients, mode: AuthMode, lifetime: TimeInterval,
        identifiers: IdentifierSource, clock: WorldClock
    ) async {
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Data(purpose.utf8), outputByteCount: 32)
        }
        self.clients = clients
        self.mode = mode
        self.lifetime = lifetime
        self.secretsKey = derived("s3 secret key")
        self.identifiers = identifiers
        self.clock = clock
        await keys.add(hmac: HMACKey(key: derived("s3 session token")), digestAlgorithm: .sha256)
    }

    /// - Parameter isForForm: whether they sign a form of ours only, see ``Holder/known(_:ofForm:)``.
    package func issue(to principal: Principal, isForForm: Bool = false) async throws -> Credentials {
        let accessKeyID = "ASIA" + Base32.encode(identifiers.bytes(10))
        let expiration = Date(timeIntervalSince1970: (clock.wall.now.timeIntervalSince1970 + lifetime).rounded(.down))
        return Credentials(
            accessKeyID: accessKeyID, secretKey: secret(of: accessKeyID),
            sessionToken: try await keys.sign(
                SessionClaims(
                    principal, version: clients.admitted(principal.client, in: mode)?.version, accessKeyID, expiration,
                    offset: clock.offset, isForForm: isForForm)),
            expiration: expiration
        )
    }

    /// Who may sign with an access key.
    package enum Holder: Sendable {
        /// - Parameter ofForm: the world's clock was so far ahead when we signed a form with them, in seconds; nil for
        ///   those that clients sign with.
        case known(Principal, ofForm: TimeInterval?)
        /// There is no session token, it is another key's, or its client is not known any more.
        case unknown
        /// The session token is none of ours.
        case invalid
        case expired
    }

    /// Whose credentials these are.
    package func holder(of accessKeyID: String, sessionToken: String?) async -> Holder {
        guard let sessionToken else { return .unknown }
        let claims: SessionClaims
        if let known = verified[sessionToken] {
            claims = known
        } else {
            guard let verified = try? await keys.verify(sessionToken, as: SessionClaims.self) else { return .invalid }
            claims = verified
            self.verified.remember(claims, of: sessionToken)
        }
        let known = clients.admitted(claims.principal.client, in: mode)
        guard claims.akid == accessKeyID, known?.isCurrent(claims.principal, version: claims.ver) == true else {
            return .unknown
        }
        guard !clock.hasPassed(claims.exp, issuedAt: claims.offset) else { return .expired }
        return .known(claims.principal, ofForm: claims.form == true ? claims.offset ?? 0 : nil)
    }

    /// Four hashes long to make, and the same for all requests of a client on one day.
    package func signingKey(for scope: SigningScope) -> SymmetricKey {
        signingKeys[scope.credential] ?? scope.signingKey(secret: secret(of: scope.accessKeyID))
    }

    /// Keeps the key of a scope for which it has made a right signature: others would push those out that are used.
    package func remember(_ key: SymmetricKey, for scope: SigningScope) {
        if signingKeys[scope.credential] == nil { signingKeys.remember(key, of: scope.credential) }
    }

    private func secret(of accessKeyID: String) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: Data(accessKeyID.utf8), using: secretsKey)).prefix(30)
            .base64EncodedString()
    }
}

private struct SessionClaims: JWTPayload {
    let akid: String
    let exp: TimeInterval
    let business: String
    let user: String
    let doctor: String
    let client: String
    /// Of the client's registration.
    let ver: String?
    /// Of the world's clock when they were issued, in seconds; absent where there was none.
    let offset: TimeInterval?
    /// Whether they sign a form of ours; absent where they do not.
    let form: Bool?

    enum CodingKeys: String, CodingKey {
        case akid, exp, business, user, doctor, client, ver, form
        case offset = "clk"
    }

    init(
        _ principal: Principal, version: String?, _ accessKeyID: String, _ expiration: Date, offset: TimeInterval,
        isForForm: Bool
    ) {
        akid = accessKeyID
        exp = expiration.timeIntervalSince1970
        business = principal.business.rawValue
        user = principal.user.rawValue
        doctor = principal.doctor.rawValue
        client = principal.client.rawValue
        ver = version
        self.offset = offset == 0 ? nil : offset
        form = isForForm ? true : nil
    }

    var principal: Principal {
        Principal(businessID: business, userID: user, doctorID: doctor, clientID: client)
    }

    /// Expiry is judged by the server's clock.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}
