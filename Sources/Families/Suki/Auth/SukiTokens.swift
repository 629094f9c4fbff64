import Basics
import Crypto
import Foundation
import JWTKit
import ScribeDomain
import ScribeHTTP

/// Issues and verifies `sdp_suki_token`s: RS256, with one key per data folder and namespace (suki.md section 2).
///
/// The public key is published, so that clients can verify tokens too.
actor SukiTokens {
    /// Claims of a token.
    struct Claims: JWTPayload {
        let iss: String
        /// User id of the clinician on this server.
        let sub: String
        let iat: Double
        let exp: Double
        let partner: String
        /// Offset of the world's clock at issue, in seconds; absent for 0.
        let offset: TimeInterval?
        /// Namespace of the token; absent for the default world.
        let namespace: String?

        enum CodingKeys: String, CodingKey {
            case iss, sub, iat, exp
            case partner = "partner_id"
            case offset = "clk"
            case namespace = "scribe-ns"
        }

        /// Checks nothing: ``SukiTokens`` compares the expiry with the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private struct Keys {
        let collection: JWTKeyCollection
        let id: String
        let modulus: Data
        let exponent: Data
    }

    /// Key id of the default world (U-04). A namespace's has the key's hash behind it, since one list has them all.
    private static let keyID = "sdp-pub"
    static let issuer = "scribe-emulator/suki"
    /// Validity of a token, in seconds (QS).
    static let lifetime = 3600.0

    private let secrets: any SecretStore
    private let clock: WorldClock
    private let namespace: NamespaceName?
    /// Claims of tokens with a valid signature. Each use checks the expiry again.
    private let verified = RecentValues<String, Claims>(limit: 4096)
    /// The signing key, made at first use: making one takes longer than the rest of a start.
    private var keys: Task<Keys, any Error>?

    /// - Parameter secrets: Keeps the private key as PEM.
    init(
        secrets: any SecretStore, clock: WorldClock, namespace: NamespaceName? = nil
    ) {
        self.secrets = secrets
        self.clock = clock
        self.namespace = namespace
    }

    func issue(to user: UserID, of partner: String) async throws -> String {
        let now = clock.wall.now.timeIntervalSince1970.rounded(.down)
        let claims = Claims(
            iss: Self.issuer, sub: user.rawValue, iat: now, exp: now + Self.lifetime, partner: partner,
            offset: clock.offset == 0 ? nil : clock.offset, namespace: namespace?.rawValue)
        let keys = try await loaded()
        return try await keys.collection.sign(claims, kid: JWKIdentifier(string: keys.id))
    }

    /// Verifies a token.
    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func claims(of token: String) async throws -> Claims {
        guard token.utf8.count <= 16_384, token.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw HTTPProblem.unauthenticated(reason: "it was not issued here")
        }
        let claims: Claims
        if let known = verified[token] {
            claims = known
        } else {
            // Foreign tokens are rejected before the JWT library parses them.
            guard let parsed = UnverifiedToken(token), parsed.issuer == Self.issuer, parsed.algorithm == "RS256",
                parsed.keyID?.hasPrefix(Self.keyID) == true
            else { throw HTTPProblem.unauthenticated(reason: "it was not issued here") }
            let keys = try await loaded()
            guard parsed.keyID == keys.id, let found = try? await keys.collection.verify(token, as: Claims.self) else {
                throw HTTPProblem.unauthenticated(reason: "its signature is not valid")
            }
            claims = found
            verified.remember(claims, of: token)
        }
        guard !clock.hasPassed(claims.exp, issuedAt: claims.offset) else {
            throw HTTPProblem.unauthenticated(reason: "it has expired")
        }
        return claims
    }

    /// The public signing key, as a JWK.
    /// - Parameter makes: Whether to make a key if there is none yet.
    /// - Throws: ``NoKey``, the error of the secret store.
    func publicKey(makes: Bool = true) async throws -> JSON {
        let keys = try await loaded(makes: makes)
        return [
            "kty": "RSA", "kid": .string(keys.id), "use": "sig", "alg": "RS256",
            "n": .string(Base64URL.encode(keys.modulus)), "e": .string(Base64URL.encode(keys.exponent)),
        ]
    }

    private struct NoKey: Error {}

    private func loaded(makes: Bool = true) async throws -> Keys {
        if let keys {
            if let loaded = try? await keys.value { return loaded }
            self.keys = nil
        }
        let loading = Task { [secrets, namespace] in
            let pem = try await secrets.secret(named: SukiContribution.keyFile) {
                guard makes else { throw NoKey() }
                return try SukiContribution.makeKey()
            }
            let key = try Insecure.RSA.PrivateKey(pem: String(decoding: pem, as: UTF8.self))
            let primitives = try key.publicKey.getKeyPrimitives()
            let hash = Hex.encode(SHA256.hash(data: primitives.modulus).prefix(8))
            let id = namespace == nil ? Self.keyID : "\(Self.keyID)-\(hash)"
            let collection = JWTKeyCollection()
            await collection.add(rsa: key, digestAlgorithm: .sha256, kid: JWKIdentifier(string: id))
            return Keys(
                collection: collection, id: id, modulus: primitives.modulus, exponent: primitives.publicExponent)
        }
        keys = loading
        return try await loading.value
    }
}
