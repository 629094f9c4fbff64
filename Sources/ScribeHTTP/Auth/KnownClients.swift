import Crypto
import Foundation
package import ScribeDomain

/// The clients that may have a token, which can be replaced while the server runs.
package final class KnownClients: Sendable {
    /// A client as the clients file lists it now.
    package struct Registration: Hashable, Sendable {
        package let principal: Principal
        /// Another one for another secret: what was handed out for the old one counts no more.
        package let version: String

        package init(principal: Principal, secretHash: [UInt8]) {
            self.principal = principal
            version = Hex.encode(SHA256.hash(data: Data(secretHash)).prefix(6))
        }
    }

    private struct Listed {
        let registrations: [ClientID: Registration]
        /// The principal of a key, by the key's hash.
        let keys: [SHA256Digest: Principal]

        init(_ registrations: [ClientID: Registration], _ keys: [String: Principal]) {
            self.registrations = registrations
            self.keys = Dictionary(
                keys.map { (KnownClients.hash(of: $0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The tenant of requests with a foreign token, or none, where the mode allows them.
    package let demoPrincipal: Principal
    private let listed: LockedValue<Listed>

    /// - Parameter keys: those of APIs that know no login.
    package init(
        registrations: [ClientID: Registration], demoPrincipal: Principal, keys: [String: Principal] = [:]
    ) {
        self.demoPrincipal = demoPrincipal
        listed = LockedValue(Listed(registrations, keys))
    }

    /// Makes exactly these clients known; tokens, keys and credentials of all others are refused from now on.
    package func replace(_ registrations: [ClientID: Registration], keys: [String: Principal]) {
        let fresh = Listed(registrations, keys)
        listed.withLock { $0 = fresh }
    }

    /// The listed clients; a token of any other is refused.
    package var registrations: [ClientID: Registration] { listed.withLock { $0.registrations } }

    /// The principal that a key acts for; nil for an unknown key.
    package func principal(ofKey key: String) -> Principal? {
        let hash = Self.hash(of: key)
        return listed.withLock { $0.keys[hash] }
    }

    /// Looked up by its hash, so that the time for it tells nothing of the key.
    private static func hash(of key: String) -> SHA256Digest { SHA256.hash(data: Data(key.utf8)) }

    /// The clients that requests may act for.
    package func admitted(in mode: AuthMode) -> [ClientID: Registration] {
        let registrations = registrations
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
