package import Engines
import HTTPTypes
package import Hummingbird
import ScribeDomain

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

    private func address(of request: Request, _ context: ScribeContext) -> String {
        guard contain(context.address) else { return context.address }
        let passedOn = request.headers[values: .forwardedFor].flatMap { $0.split(ascii: ",") }
        for text in passedOn.reversed() {
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
