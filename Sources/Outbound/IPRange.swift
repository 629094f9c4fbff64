import Foundation
import NIOCore

/// IP address as 4 or 16 bytes.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    let bytes: [UInt8]
    /// Text of the address, as written or as the resolver returned it.
    package let description: String

    /// Parses an address in the usual notation. Nil for any other text, also for `127.1` and `0x7f000001`.
    package init?(_ text: String) {
        guard let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        self.init(address)
    }

    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): bytes = withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address): bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
        case .unixDomainSocket: return nil
        }
        guard let text = address.ipAddress else { return nil }
        description = text
    }

    private init(bytes: [UInt8], description: String) {
        self.bytes = bytes
        self.description = description
    }

    /// Network part that identifies one subscriber: the whole IPv4 address, or 64 bits of IPv6 (RFC 4291, 2.5.4).
    package var network: String {
        let address = unwrapped
        return address.bytes.count == 4
            ? address.bytes.map(String.init).joined(separator: ".")
            : address.bytes.prefix(8).map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// IPv4 address embedded in an IPv6 address (RFC 4291, 2.5.5; RFC 6052); otherwise the address itself.
    var unwrapped: IPAddress {
        let isWrapped = ["::ffff:0:0/96", "::/96", "64:ff9b::/96"].contains { IPRange($0)?.contains(bytes) ?? false }
        // `::` and `::1` embed no IPv4 address.
        guard isWrapped, bytes[12...] != [0, 0, 0, 0], bytes[12...] != [0, 0, 0, 1] else { return self }
        return IPAddress(bytes: Array(bytes[12...]), description: description)
    }
}

/// Range of IP addresses, for example `10.0.0.0/8`.
package struct IPRange: Hashable, Sendable {
    private let first: [UInt8]
    /// Length of the prefix, in bits.
    private let length: Int

    /// Parses a range in CIDR notation; a single address is a range of one. Nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let bits = address.bytes.count * 8
        guard let length = parts.count == 1 ? bits : Int(parts[1]), (0...bits).contains(length) else { return nil }
        first = address.bytes
        self.length = length
    }

    /// Whether the range contains an address, as written or as the IPv4 address embedded in it.
    package func contains(_ address: IPAddress) -> Bool {
        contains(address.unwrapped.bytes) || contains(address.bytes)
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == first.count else { return false }
        let (whole, rest) = (length / 8, length % 8)
        guard bytes[..<whole] == first[..<whole] else { return false }
        return rest == 0 || (bytes[whole] ^ first[whole]) >> (8 - rest) == 0
    }
}
