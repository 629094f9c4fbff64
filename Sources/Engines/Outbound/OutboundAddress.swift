import Foundation

/// An `http` or `https` URL that somebody else has named, read in one way only: what is strange is refused, so that no two
/// parsers can differ about where it leads.
package struct OutboundAddress: Hashable, Sendable {
    /// Without brackets, in lower case.
    let host: String
    /// As it is asked for.
    let url: String

    /// In bytes.
    private static let longest = 2048

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
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let query = parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        url = "\(scheme)://\(written)\(port == usual ? "" : ":\(port)")\(path)\(query)"
    }

    /// Letters, digits, dots and hyphens: what names and plain addresses are made of.
    static func isHostName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
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
