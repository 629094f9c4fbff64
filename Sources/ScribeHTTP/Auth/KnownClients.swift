import Crypto
import Foundation
package import ScribeDomain

/// Who may have a token.
package struct KnownClients: Sendable {
    /// A client as it is known since this start.
    package struct Registration: Hashable, Sendable {
        package let principal: Principal
        /// Another one for another secret: what was handed out for the old one counts no more.
        package let version: String

        package init(principal: Principal, secretHash: [UInt8]) {
            self.principal = principal
            version = Hex.encode(SHA256.hash(data: Data(secretHash)).prefix(6))
        }
    }

    /// Those of this start; a token of any other is refused.
    package let registrations: [ClientID: Registration]
    /// The tenant of requests with a foreign token, or none, where the mode allows them.
    package let demoPrincipal: Principal
    /// For whom a key acts, by the key's hash.
    private let keys: [SHA256Digest: Principal]

    /// - Parameter keys: those of APIs that know no login.
    package init(
        registrations: [ClientID: Registration], demoPrincipal: Principal, keys: [String: Principal] = [:]
    ) {
        self.registrations = registrations
        self.demoPrincipal = demoPrincipal
        self.keys = Dictionary(
            keys.map { (Self.hash(of: $0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whoever a key belongs to; nil for a key that is none.
    package func principal(ofKey key: String) -> Principal? { keys[Self.hash(of: key)] }

    /// Looked up by its hash, so that the time for it tells nothing of the key.
    private static func hash(of key: String) -> SHA256Digest { SHA256.hash(data: Data(key.utf8)) }

    /// For whom requests may act.
    package func admitted(in mode: AuthMode) -> [ClientID: Registration] {
        guard mode != .strict, registrations[demoPrincipal.client] == nil else { return registrations }
        var admitted = registrations
        admitted[demoPrincipal.client] = Registration(principal: demoPrincipal, secretHash: [])
        return admitted
    }
}

extension [ClientID: KnownClients.Registration] {
    /// Whether what was handed out still counts: its client is known, acts for the same tenant and has the same secret.
    package func isCurrent(_ principal: Principal, version: String?) -> Bool {
        guard let known = self[principal.client] else { return false }
        return known.principal == principal && known.version == version
    }
}
