import Foundation
import ScribeDomain

/// An `http` or `https` URL that somebody else has named, read in one way only: what is strange is refused, so that no two
/// parsers can differ about where it leads.
package struct OutboundAddress: Hashable, Sendable {
    /// Without brackets, in lower case.
    package let host: String
    /// As it is asked for.
    package let url: String

    /// In bytes.
    private static let longest = 2048

    /// Those that no browser asks either (WHATWG's fetch, section 2.9), and those of databases, queues and machines'
    /// managers: what is sent there means something to them, or may come to.
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

    /// - Throws: ``OutboundProblem/invalid(_:)``.
    package init(_ text: String) throws(OutboundProblem) {
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
        // As it is kept, it is read again.
        guard url.utf8.count <= Self.longest else { throw .invalid("is no URL") }
    }

    /// Letters, digits, dots and hyphens: what names and plain addresses are made of.
    static func isHostName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
    }
}

/// Why nothing came of an exchange with an address that somebody else has named.
package enum OutboundProblem: Error, Hashable, Sendable {
    /// It is no address, for the reason given.
    case invalid(String)
    /// Its host has no address.
    case unknownHost
    /// It leads to where nobody may send this server.
    case forbidden
    /// Nobody answers there, or not in time.
    case unreachable
    /// It leads elsewhere, with that status; nobody follows.
    case redirect(Int)
    /// It answers with that status.
    case refused(Int)
}
