package import Basics
package import Crypto
package import Foundation
import JWTKit
package import ScribeDomain

/// Issues and resolves temporary S3 credentials (eka.md 2.11).
///
/// Nothing is stored: the session token names owner and expiry, and the secret derives from the access key id. So
/// credentials survive a restart, as clients need that fetch them once per session (C-76).
package struct UploadCredentials: Sendable {
    package struct Credentials: Hashable, Sendable {
        package let accessKeyID: String
        package let secretKey: String
        package let sessionToken: String
        package let expiration: Date
    }

    /// Validity in seconds; 12 h is longer than any visit (eka.md 2.11).
    package let lifetime: TimeInterval
    private let clients: KnownClients
    private let mode: AuthMode
    private let keys = JWTKeyCollection()
    /// Claims of tokens with a valid signature. Each use checks the expiry again.
    private let verified = RecentValues<String, SessionClaims>(limit: 4096)
    /// Signing keys by the credential of their scope.
    private let signingKeys = RecentValues<String, SymmetricKey>(limit: 4096)
    private let secretsKey: SymmetricKey
    private let identifiers: IdentifierSource
    private let clock: WorldClock
    private let place: WorldPlace

    /// - Parameters:
    ///   - key: Key of the data folder; credentials use keys derived from it.
    ///   - clients: Clients whose credentials are valid, also those issued before the last start.
    ///   - mode: Decides whether the demo client counts.
    package init(
        key: SymmetricKey, clients: KnownClients, mode: AuthMode, lifetime: TimeInterval,
        identifiers: IdentifierSource, clock: WorldClock, place: WorldPlace = WorldPlace()
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
        self.place = place
        await keys.add(hmac: HMACKey(key: derived("s3 session token")), digestAlgorithm: .sha256)
    }

    /// Issues temporary S3 credentials.
    /// - Parameter isForForm: Whether the server itself signs a form with them, see ``Holder/known(_:ofForm:)``.
    package func issue(to principal: Principal, isForForm: Bool = false) async throws -> Credentials {
        let accessKeyID = "ASIA" + Base32.encode(identifiers.bytes(10))
        let expiration = Date(timeIntervalSince1970: (clock.wall.now.timeIntervalSince1970 + lifetime).rounded(.down))
        return Credentials(
            accessKeyID: accessKeyID, secretKey: secret(of: accessKeyID),
            sessionToken: try await keys.sign(
                SessionClaims(
                    principal, version: clients.admitted(principal.client, in: mode)?.version, accessKeyID, expiration,
                    offset: clock.offset, isForForm: isForForm, place)),
            expiration: expiration
        )
    }

    /// Result of resolving an access key.
    package enum Resolution: Sendable {
        /// - Parameter ofForm: Offset of the world's clock when the server signed a form, in seconds; nil for clients'
        ///   own signatures.
        case known(Principal, ofForm: TimeInterval?)
        /// No session token, one of another key, or one of an unknown client.
        case unknown
        /// The session token was not issued by this server.
        case invalid
        /// Too old, or issued before a reset of the world: new credentials cure it.
        case expired
    }

    /// Resolves an access key and session token to their owner.
    package func holder(of accessKeyID: String, sessionToken: String?) async -> Resolution {
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
        guard claims.state == place.stateClaim, !clock.hasPassed(claims.exp, issuedAt: claims.offset) else {
            return .expired
        }
        return .known(claims.principal, ofForm: claims.form == true ? claims.offset ?? 0 : nil)
    }

    /// Owner of a session token, whatever its age; nil for a token that this world has not issued.
    package func holder(ofSessionToken token: String) async -> Principal? {
        if let known = verified[token] { return known.principal }
        return try? await keys.verify(token, as: SessionClaims.self).principal
    }

    /// The signing key of a scope. Deriving one takes four HMACs; it stays the same for a client's requests of one day.
    package func signingKey(for scope: SigningScope) -> SymmetricKey {
        signingKeys[scope.credential] ?? scope.signingKey(secret: secret(of: scope.accessKeyID))
    }

    /// Caches a signing key after a valid signature. Other keys would evict ones in use.
    package func remember(_ key: SymmetricKey, for scope: SigningScope) {
        if signingKeys[scope.credential] == nil { signingKeys.remember(key, of: scope.credential) }
    }

    private func secret(of accessKeyID: String) -> String {
        IssuedSecret.text(HMAC<SHA256>.authenticationCode(for: Data(accessKeyID.utf8), using: secretsKey))
    }
}

private struct SessionClaims: JWTPayload {
    let akid: String
    let exp: TimeInterval
    let business: String
    let user: String
    let doctor: String
    let client: String
    /// Version of the client's registration.
    let ver: String?
    /// Offset of the world's clock at issue, in seconds; absent for 0.
    let offset: TimeInterval?
    /// Whether the credentials sign one of the server's forms; absent for false.
    let form: Bool?
    /// Number of the world's state; absent for 1.
    let state: Int?
    /// Namespace of the credentials; absent for the default world.
    let namespace: String?

    enum CodingKeys: String, CodingKey {
        case akid, exp, business, user, doctor, client, ver, form
        case state = "st"
        case namespace = "scribe-ns"
        case offset = "clk"
    }

    init(
        _ principal: Principal, version: String?, _ accessKeyID: String, _ expiration: Date, offset: TimeInterval,
        isForForm: Bool, _ place: WorldPlace
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
        state = place.stateClaim
        namespace = place.namespace?.rawValue
    }

    var principal: Principal {
        Principal(businessID: business, userID: user, doctorID: doctor, clientID: client)
    }

    /// Checks nothing: ``UploadCredentials`` compares the expiry with the server's clock.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}
