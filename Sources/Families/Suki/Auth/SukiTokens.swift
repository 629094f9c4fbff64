import CryptoExtras
import Foundation
import JWTKit
import ScribeDomain
import ScribeHTTP

/// Issues and verifies `sdp_suki_token`s: RS256, by one key for each data folder, which anybody may check them with
/// (suki.md section 2).
actor SukiTokens {
    /// Whom a token lets in.
    struct Claims: JWTPayload {
        let iss: String
        /// As they are called here.
        let sub: String
        let iat: Double
        let exp: Double
        let partner: String
        /// Of the world's clock when it was issued, in seconds; absent where there was none.
        let offset: TimeInterval?

        enum CodingKeys: String, CodingKey {
            case iss, sub, iat, exp
            case partner = "partner_id"
            case offset = "clk"
        }

        /// Time is judged by the server's clock.
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private struct Keys {
        let collection: JWTKeyCollection
        let modulus: Data
        let exponent: Data
    }

    static let keyID = "sdp-pub"
    static let issuer = "scribe-emulator/suki"
    /// In seconds (QS).
    static let lifetime = 3600.0

    private let keyFile: @Sendable (_ fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8]
    private let clock: WorldClock
    /// The claims of tokens with a valid signature. Each use checks the expiry anew.
    private let verified = RecentValues<String, Claims>(limit: 4096)
    /// Made when somebody first needs it: it takes longer than everything else of a start.
    private var keys: Task<Keys, any Error>?

    /// - Parameter keyFile: keeps a private key, as PEM, which it makes when there is none.
    init(
        keyFile: @escaping @Sendable (_ fresh: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8],
        clock: WorldClock
    ) {
        self.keyFile = keyFile
        self.clock = clock
    }

    func issue(to user: UserID, of partner: String) async throws -> String {
        let now = clock.wall.now.timeIntervalSince1970.rounded(.down)
        let claims = Claims(
            iss: Self.issuer, sub: user.rawValue, iat: now, exp: now + Self.lifetime, partner: partner,
            offset: clock.offset == 0 ? nil : clock.offset)
        return try await loaded().collection.sign(claims, kid: JWKIdentifier(string: Self.keyID))
    }

    /// - Throws: ``HTTPProblem/unauthenticated(reason:)``.
    func claims(of token: String) async throws -> Claims {
        guard token.utf8.count <= 16_384, token.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw HTTPProblem.unauthenticated(reason: "it was not issued here")
        }
        let claims: Claims
        if let known = verified[token] {
            claims = known
        } else {
            // What is no JWT of ours is kept from the parser.
            guard let parsed = UnverifiedToken(token), parsed.issuer == Self.issuer, parsed.algorithm == "RS256",
                parsed.keyID == Self.keyID
            else { throw HTTPProblem.unauthenticated(reason: "it was not issued here") }
            guard let found = try? await loaded().collection.verify(token, as: Claims.self) else {
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

    /// The key with which tokens are checked, as a JWK set.
    func publicKeys() async throws -> JSON {
        let keys = try await loaded()
        return [
            "keys": [
                [
                    "kty": "RSA", "kid": .string(Self.keyID), "use": "sig", "alg": "RS256",
                    "n": .string(Base64URL.encode(keys.modulus)), "e": .string(Base64URL.encode(keys.exponent)),
                ]
            ]
        ]
    }

    private func loaded() async throws -> Keys {
        if let keys {
            if let loaded = try? await keys.value { return loaded }
            self.keys = nil
        }
        let loading = Task { [keyFile] in
            let pem = try await keyFile {
                Array(try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation.utf8)
            }
            let key = try Insecure.RSA.PrivateKey(pem: String(decoding: pem, as: UTF8.self))
            let collection = JWTKeyCollection()
            await collection.add(rsa: key, digestAlgorithm: .sha256, kid: JWKIdentifier(string: SukiTokens.keyID))
            let primitives = try key.publicKey.getKeyPrimitives()
            return Keys(
                collection: collection, modulus: primitives.modulus, exponent: primitives.publicExponent)
        }
        keys = loading
        return try await loading.value
    }
}
