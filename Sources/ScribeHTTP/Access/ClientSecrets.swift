package import Crypto
import Foundation
package import ScribeDomain

/// Hashes client secrets and refresh tokens, which are never stored in the clear.
package struct ClientSecrets: Sendable {
    private let key: SymmetricKey

    package init(key: SymmetricKey) { self.key = key }

    /// The stored 32-byte hash of a client's secret. Equal secrets of two clients have different hashes.
    package func hash(of secret: String, of client: ClientID) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.message(secret, client), using: key))
    }

    package func isSecret(_ secret: String, of client: ClientID, hash: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(hash, authenticating: Self.message(secret, client), using: key)
    }

    /// The stored hash of a refresh token. Such tokens are long and random, so a plain hash is enough.
    package func hash(ofToken token: String) -> [UInt8] { Array(SHA256.hash(data: Data(token.utf8))) }

    /// The token that replaces a refresh token. Only this server can derive it, though only hashes are stored.
    package func successor(ofToken token: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data("refresh \(token)".utf8), using: key))
    }

    private static func message(_ secret: String, _ client: ClientID) -> Data {
        Data("\(client.rawValue)\u{0}\(secret)".utf8)
    }
}
