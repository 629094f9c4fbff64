import Basics
import Engines
import Outbound

/// Parses a host with an optional port, as in a `Host` header or an origin: `api.example`, `[::1]:8087`.
package struct HostAndPort: Hashable, Sendable {
    /// Host in lower case, without a trailing dot and without the brackets of an IPv6 address.
    package let host: String
    package let port: Int?
    /// Whether the host is an IP address, which cannot be registered as a name.
    package let isAddress: Bool

    /// Parses a host with an optional port.
    /// - Returns: nil for a text that two parsers could read as different hosts, such as `[::1].evil.example` and
    ///   `localhost:80@evil.example`.
    package init?(_ text: String) {
        let bytes = text.utf8
        let end: String.UTF8View.Index
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            // The zone of a link-local address names an interface of this machine.
            let address = Substring(bytes[bytes.index(after: bytes.startIndex)..<bracket]).prefix { $0 != "%" }
            guard address.utf8.contains(UInt8(ascii: ":")), let known = IPAddress(String(address)) else { return nil }
            host = known.description
            isAddress = true
            end = bytes.index(after: bracket)
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            var name = Substring(bytes[..<end]).lowercased()
            if name.hasSuffix(".") { name.removeLast() }
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isInName) else { return nil }
            // Only a host that ends in a digit can be an IPv4 address, which spares most hosts the parsing.
            isAddress = name.utf8.last?.isDigit ?? false && IPAddress(name) != nil
            host = name
        }
        let digits = bytes[end...].dropFirst()
        guard digits.count <= 5, digits.allSatisfy(\.isDigit) else { return nil }
        let port = Int(Substring(digits))
        guard end == bytes.endIndex || bytes[end] == UInt8(ascii: ":"), port ?? 0 <= 65_535 else { return nil }
        self.port = port
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: byte.isDigit
        }
    }
}
