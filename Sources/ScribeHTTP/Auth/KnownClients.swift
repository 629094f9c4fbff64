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

    package init(registrations: [ClientID: Registration], demoPrincipal: Principal) {
        self.registrations = registrations
        self.demoPrincipal = demoPrincipal
    }

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
