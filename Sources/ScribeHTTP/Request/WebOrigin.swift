import Basics

/// Parses the origin of a web page, as in the `Origin` header (RFC 6454): `https://app.example`.
package struct WebOrigin: Hashable, Sendable {
    package enum Scheme: String, Sendable {
        case http, https
    }

    package let scheme: Scheme
    package let host: String
    /// Port of the origin; the scheme's default if none is named.
    package let port: Int
    package let isAddress: Bool

    /// Parses an `Origin` header.
    /// - Returns: nil for `null`, for another scheme, and for a text that no browser sends.
    package init?(_ text: String) {
        let parts = text.split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//"), let scheme = Scheme(rawValue: parts[0].lowercased()),
            let place = HostAndPort(String(parts[1].dropFirst(2)))
        else { return nil }
        self.scheme = scheme
        host = place.host
        port = place.port ?? (scheme == .https ? 443 : 80)
        isAddress = place.isAddress
    }
}
