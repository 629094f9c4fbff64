import NIOCore

/// Rules for the addresses that a client may make the server contact.
package struct OutboundRules: Hashable, Sendable {
    /// Exception that the operator permits beside the public internet.
    package enum Exception: Hashable, Sendable {
        /// Host by name, whatever its addresses.
        case host(String)
        case range(IPRange)

        /// Parses a host name, an address, or a range such as `10.0.0.0/8`. Nil for any other text.
        package init?(_ text: String) {
            if let range = IPRange(text) {
                self = .range(range)
            } else if OutboundURL.isHostName(text) {
                self = .host(text.lowercased())
            } else {
                return nil
            }
        }
    }

    private let exceptions: [Exception]

    /// Creates rules.
    /// - Parameter allowsLoopback: whether the server may contact its own machine, for setups in which every client can
    ///   reach the services there anyway.
    package init(allowing exceptions: [Exception] = [], allowsLoopback: Bool) {
        self.exceptions = exceptions + (allowsLoopback ? Self.loopback.map { .range($0) } : [])
    }

    /// Whether the server may contact a host at one of its addresses.
    func allow(_ host: String, at address: IPAddress) -> Bool {
        let bytes = address.unwrapped.bytes
        let isException = exceptions.contains { exception in
            switch exception {
            case .host(let name): name == host.lowercased()
            case .range(let range): range.contains(bytes) || range.contains(address.bytes)
            }
        }
        return isException || Self.isPublic(bytes)
    }

    /// Whether an address belongs to the public internet.
    private static func isPublic(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 16, !publicIPv6.contains(where: { $0.contains(bytes) }) { return false }
        return !special.contains { $0.contains(bytes) }
    }

    fileprivate static let loopback = ranges("127.0.0.0/8", "::1")
    private static let publicIPv6 = ranges("2000::/3")
    /// Special address ranges by IANA's registries, which are not public.
    /// They are private, link-local, shared, documentation and multicast addresses, metadata services, and addresses
    /// that embed others (6to4, Teredo). One public address is added, by which a cloud's machines reach its platform.
    private static let special = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "168.63.129.16", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

    private static func ranges(_ texts: String...) -> [IPRange] { texts.compactMap { IPRange($0) } }
}

extension IPAddress {
    /// Whether only this machine can use the address.
    package var isLoopback: Bool { OutboundRules.loopback.contains { $0.contains(self) } }
}
