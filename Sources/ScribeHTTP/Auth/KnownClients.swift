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

    /// No client is known before ``replace(_:keys:)``.
    package init(demoPrincipal: Principal) {
        self.demoPrincipal = demoPrincipal
        listed = LockedValue(Listed([:], [:]))
    }

    /// Makes exactly these clients known; tokens, keys and credentials of all others are refused from now on.
    /// - Parameter keys: those of APIs that know no login.
    package func replace(_ registrations: [ClientID: Registration], keys: [String: Principal]) {
        let fresh = Listed(registrations, keys)
        listed.withLock { $0 = fresh }
    }

    package subscript(client: ClientID) -> Registration? { listed.withLock { $0.registrations[client] } }

    /// The principal that a key acts for; nil for an unknown key.
    package func principal(ofKey key: String) -> Principal? {
        let hash = Self.hash(of: key)
        return listed.withLock { $0.keys[hash] }
    }

    /// Looked up by its hash, so that the time for it tells nothing of the key.
    private static func hash(of key: String) -> SHA256Digest { SHA256.hash(data: Data(key.utf8)) }

    /// The registration of a client that requests may act for: where the mode allows requests without a token of ours, the
    /// demo client is one without being listed.
    package func admitted(_ client: ClientID, in mode: AuthMode) -> Registration? {
        if let known = self[client] { return known }
        guard mode != .strict, client == demoPrincipal.client else { return nil }
        return Registration(principal: demoPrincipal, secretHash: [])
    }
}

extension KnownClients.Registration {
    /// Whether what was handed out for a version still counts: the client acts for the same tenant and has the same secret.
    package func isCurrent(_ principal: Principal, version: String?) -> Bool {
        self.principal == principal && self.version == version
    }
}
