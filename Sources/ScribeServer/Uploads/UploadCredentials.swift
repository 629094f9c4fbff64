import Crypto
import Foundation
import JWTKit
import ScribeDomain

/// Temporary S3 credentials (eka-v2.md 2.11).
///
/// Nothing of them is stored: the session token says whose they are and until when, and the secret follows from the
/// access key id. They therefore survive a restart, as clients that fetch them once per session need (C-76).
struct UploadCredentials: Sendable {
    struct Credentials: Hashable, Sendable {
        let accessKeyID: String
        let secretKey: String
        let sessionToken: String
        let expiration: Date
    }

    /// In seconds; 12 h outlast a consultation (eka-v2.md 10.12).
    let lifetime: TimeInterval
    /// Those who may still use theirs.
    private let clients: [ClientID: KnownClients.Registration]
    private let keys = JWTKeyCollection()
    private let verified = VerifiedTokens<SessionClaims>()
    private let signingKeys = VerifiedTokens<SymmetricKey>()
    private let secretsKey: SymmetricKey
    private let identifiers: IdentifierSource
    private let clock: ScribeClock

    /// - Parameters:
    ///   - key: kept in the data folder; what is derived from it is of no use for access tokens.
    ///   - clients: those whose credentials count, also if they were issued before the last start.
    init(
        key: SymmetricKey, clients: [ClientID: KnownClients.Registration], lifetime: TimeInterval,
        identifiers: IdentifierSource,
        clock: ScribeClock
    ) async {
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Data(purpose.utf8), outputByteCount: 32)
        }
        self.clients = clients
        self.lifetime = lifetime
        self.secretsKey = derived("s3 secret key")
        self.identifiers = identifiers
        self.clock = clock
        await keys.add(hmac: HMACKey(key: derived("s3 session token")), digestAlgorithm: .sha256)
    }

    func issue(to principal: Principal) async throws -> Credentials {
        let accessKeyID = "ASIA" + Base32.encode(identifiers.bytes(10))
        let expiration = Date(timeIntervalSince1970: (clock.now.timeIntervalSince1970 + lifetime).rounded(.down))
        return Credentials(
            accessKeyID: accessKeyID, secretKey: secret(of: accessKeyID),
            sessionToken: try await keys.sign(
                SessionClaims(
                    principal, version: clients[principal.client]?.version, accessKeyID, expiration)),
            expiration: expiration
        )
    }

    /// Whose request this is and with which key it must be signed.
    /// - Throws: ``S3Error`` as AWS would.
    func resolve(
        _ scope: SigV4.Scope, sessionToken: String?
    ) async throws(S3Error) -> (principal: Principal, key: SymmetricKey) {
        guard let sessionToken else { throw .invalidAccessKeyID }
        let claims: SessionClaims
        do {
            if let known = verified[sessionToken] {
                claims = known
            } else {
                claims = try await keys.verify(sessionToken, as: SessionClaims.self)
                verified.remember(claims, of: sessionToken)
            }
        } catch {
            throw .invalidToken
        }
        guard claims.akid == scope.accessKeyID, clients.isCurrent(claims.principal, version: claims.ver) else {
            throw .invalidAccessKeyID
        }
        guard claims.exp > clock.now.timeIntervalSince1970 else { throw .expiredToken }
        return (claims.principal, signingKey(for: scope))
    }

    /// Four hashes long to make, and the same for all requests of a client on one day.
    private func signingKey(for scope: SigV4.Scope) -> SymmetricKey {
        signingKeys[Self.name(of: scope)] ?? scope.signingKey(secret: secret(of: scope.accessKeyID))
    }

    /// Keeps the key of a scope for which it has made a right signature: others would push those out that are used.
    func remember(_ key: SymmetricKey, for scope: SigV4.Scope) {
        let name = Self.name(of: scope)
        if signingKeys[name] == nil { signingKeys.remember(key, of: name) }
    }

    private static func name(of scope: SigV4.Scope) -> String { "\(scope.accessKeyID)/\(scope.text)" }

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

    init(_ principal: Principal, version: String?, _ accessKeyID: String, _ expiration: Date) {
        akid = accessKeyID
        exp = expiration.timeIntervalSince1970
        business = principal.business.rawValue
        user = principal.user.rawValue
        doctor = principal.doctor.rawValue
        client = principal.client.rawValue
        ver = version
    }

    var principal: Principal {
        Principal(
            business: BusinessID(business), user: UserID(user), doctor: DoctorID(doctor), client: ClientID(client)
        )
    }

    /// Expiry is judged by the server's clock.
    func verify(using algorithm: some JWTAlgorithm) throws {}
}

/// The alphabet of AWS access key ids.
enum Base32 {
    static func encode(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        var text: [UInt8] = []
        var buffer = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(alphabet[buffer >> bits & 31])
            }
            buffer &= (1 << bits) - 1
        }
        return String(decoding: text, as: UTF8.self)
    }
}
