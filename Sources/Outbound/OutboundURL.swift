import Basics
import Foundation

/// Validated `http` or `https` URL from a client. Unusual URLs are refused, so that two parsers
/// cannot disagree about their target.
package struct OutboundURL: Hashable, Sendable {
    /// Host in lower case, without brackets.
    package let host: String
    /// Normalised URL for the request.
    package let url: String

    /// Longest URL, in bytes.
    private static let longest = 2048

    /// Refused ports: those that browsers block (WHATWG Fetch, section 2.9), and those of databases, queues and
    /// management services, which could interpret a request as commands.
    private static let portsOfOthers: Set<Int> = [
        1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
        110,
        111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
        532,
        540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
        5061,
        6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
        445, 1433, 1521, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 6379, 9042, 9092, 9200, 9300, 10_250,
        11_211, 27_017,
    ]

    /// Validates a URL.
    /// - Throws: ``OutboundError/invalid(_:)``.
    package init(_ text: String) throws(OutboundError) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("\\"),
            let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased()
        else { throw .invalid("is no URL") }
        guard ["http", "https"].contains(scheme) else { throw .invalid("must be http or https") }
        guard parts.user == nil, parts.password == nil else { throw .invalid("must hold no user and no password") }
        guard let written = parts.percentEncodedHost?.lowercased() else { throw .invalid("names no host") }
        if written.hasPrefix("[") {
            host = String(written.dropFirst().dropLast())
            guard written.hasSuffix("]"), IPAddress(host) != nil else { throw .invalid("names no host") }
        } else {
            host = written
            guard Self.isHostName(written) else { throw .invalid("names no host") }
        }
        let authority = text.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".contains($0) }.lowercased()
        guard authority == written || parts.port.map({ authority == "\(written):\($0)" }) ?? false else {
            throw .invalid("names no port")
        }
        let usual = scheme == "https" ? 443 : 80
        let port = parts.port ?? usual
        guard (1...65_535).contains(port) else { throw .invalid("names no port") }
        guard !Self.portsOfOthers.contains(port) else { throw .invalid("names the port of another service") }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let query = parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        url = "\(scheme)://\(written)\(port == usual ? "" : ":\(port)")\(path)\(query)"
        // The stored URL is parsed again later, so the limit applies to it as well.
        guard url.utf8.count <= Self.longest else { throw .invalid("is no URL") }
    }

    /// Whether a text has only letters, digits, dots and hyphens, as host names and IPv4 addresses have.
    static func isHostName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
    }
}

/// Reason why a request to a client's URL failed.
package enum OutboundError: Error, Hashable, Sendable {
    /// The URL is invalid, for the given reason.
    case invalid(String)
    /// The host has no IP address.
    case unknownHost
    /// The host resolves to an address that the rules forbid.
    case forbidden
    /// The server could not be reached, or did not answer in time.
    case unreachable
    /// The server answered with a redirect of this status; redirects are not followed.
    case redirect(Int)
    /// The server answered with this status.
    case refused(Int)
}

extension OutboundError {
    package var words: String {
        switch self {
        case .invalid(let reason): "the address \(reason)"
        case .unknownHost: "nobody knows the host"
        case .forbidden: "the address is not allowed"
        case .unreachable: "nobody answers there, or not in time"
        case .redirect(let status): "answered \(status), which is not followed"
        case .refused(let status): "answered \(status)"
        }
    }
}
