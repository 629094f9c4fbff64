import Basics
import Crypto
import DataFolder
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeStore

extension Configuration {
    /// Key that signs tokens and links: the configured one, or else the one that a store keeps.
    func signingKey(keptIn secrets: any SecretStore, _ identifiers: IdentifierSource) async throws -> SymmetricKey {
        if let signingKey { return SymmetricKey(data: signingKey) }
        return SymmetricKey(
            data: try await secrets.secret(named: DataFolder.signingKey) { identifiers.bytes(32) })
    }

    /// Token of the operator API: the configured one, or else the one that a store keeps; nil if only this machine
    /// reaches the server and authentication is lenient.
    func adminToken(keptIn secrets: any SecretStore, _ identifiers: IdentifierSource) async throws -> String? {
        if let adminToken { return adminToken }
        guard authMode == .strict || !isLoopback else { return nil }
        let token = try await secrets.secret(named: DataFolder.adminToken) { Array(identifiers.secret().utf8) }
        return String(decoding: token, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
