import Basics
import Engines
import HTTPTypes
package import Hummingbird
package import Outbound

/// Proxies whose forwarding headers are trusted.
package struct TrustedProxies: Sendable {
    private let ranges: [IPRange]

    package init(_ ranges: [IPRange]) { self.ranges = ranges }

    package func contain(_ address: String) -> Bool {
        guard !ranges.isEmpty, let address = IPAddress(address) else { return false }
        return ranges.contains { $0.contains(address) }
    }

    /// The address of a request's client, for counting.
    ///
    /// If the peer is a trusted proxy, the last address of `X-Forwarded-For` that is no trusted proxy; else the peer.
    /// Earlier addresses come from the client itself. An IPv6 address is cut to its first 64 bits, since its owner
    /// chooses the rest.
    package func client(of request: Request, _ context: ScribeContext) -> String {
        Self.counted(address(of: request, context))
    }

    /// The value of a forwarding header. Of a list it is the entry of the last trusted proxy on the way to the client,
    /// since earlier entries come from the client itself.
    /// - Returns: nil without the header, or if the peer is no trusted proxy.
    func forwarded(_ name: HTTPField.Name, of request: Request, _ context: ScribeContext) -> String? {
        guard contain(context.address) else { return nil }
        let hops = Self.entries(.forwardedFor, of: request).reversed().prefix {
            Self.address(in: $0).map(contain) ?? false
        }
        let entries = Self.entries(name, of: request)
        return entries.isEmpty ? nil : entries[max(0, entries.count - 1 - hops.count)].trimmed
    }

    private static func entries(_ name: HTTPField.Name, of request: Request) -> [Substring] {
        request.headers[values: name].flatMap { $0.split(ascii: ",") }
    }

    private func address(of request: Request, _ context: ScribeContext) -> String {
        guard contain(context.address) else { return context.address }
        for text in Self.entries(.forwardedFor, of: request).reversed() {
            guard let address = Self.address(in: text) else { break }
            if !contain(address) { return address }
        }
        return context.address
    }

    /// Parses an address; some proxies append the port.
    private static func address(in text: Substring) -> String? {
        let text = text.split(ascii: " ").joined()
        return (IPAddress(text) ?? HostAndPort(text).flatMap { IPAddress($0.host) })?.description
    }

    private static func counted(_ address: String) -> String { IPAddress(address)?.network ?? address }
}
