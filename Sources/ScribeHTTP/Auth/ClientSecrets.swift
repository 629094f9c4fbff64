package import Crypto
import Foundation
package import ScribeDomain

/// How client secrets and refresh tokens are kept: never as they are.
package struct ClientSecrets: Sendable {
    private let key: SymmetricKey

    package init(key: SymmetricKey) { self.key = key }

    /// The 32 bytes stored for a client's secret, different for two clients with the same secret.
    package func hash(of secret: String, of client: ClientID) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Self.message(secret, client), using: key))
    }

    package func isSecret(_ secret: String, of client: ClientID, hash: [UInt8]) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(hash, authenticating: Self.message(secret, client), using: key)
    }

    /// Refresh tokens are long and random: a plain hash is enough.
    package func hash(ofToken token: String) -> [UInt8] { Array(SHA256.hash(data: Data(token.utf8))) }

    /// What a refresh token is exchanged for: only this server can tell, and only hashes are stored.
    package func successor(ofToken token: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data("refresh \(token)".utf8), using: key))
    }

    private static func message(_ secret: String, _ client: ClientID) -> Data {
        Data("\(client.rawValue)\u{0}\(secret)".utf8)
    }
}
