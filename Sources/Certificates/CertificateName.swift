import Basics
import Foundation
import NIOCore
import SwiftASN1
import X509

/// Name that a certificate is valid for: a host, all hosts one label below another, or an IP address.
package enum CertificateName: Hashable, Sendable, CustomStringConvertible {
    case host(String)
    /// Wildcard `*.` followed by this host.
    case wildcard(String)
    case address(bytes: [UInt8], text: String)

    /// Parses `api.eka.care`, `*.s3.amazonaws.com`, `10.0.2.2` and `::1`. Nil for any other text.
    package init?(_ text: String) {
        if let address = try? SocketAddress(ipAddress: text, port: 0) {
            switch address {
            case .v4(let v4): self.init(addressBytes: withUnsafeBytes(of: v4.address.sin_addr) { Array($0) })
            case .v6(let v6): self.init(addressBytes: withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) })
            case .unixDomainSocket: return nil
            }
            return
        }
        let isBelow = text.hasPrefix("*.")
        let host = (isBelow ? String(text.dropFirst(2)) : text).lowercased()
        guard Self.isHost(host) else { return nil }
        self = isBelow ? .wildcard(host) : .host(host)
    }

    /// Creates an address name from raw bytes. Nil unless there are 4 or 16 bytes.
    init?(addressBytes bytes: [UInt8]) {
        guard [4, 16].contains(bytes.count),
            let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0),
            let text = address.ipAddress
        else { return nil }
        self = .address(bytes: bytes, text: text)
    }

    var isAddress: Bool { if case .address = self { true } else { false } }

    package var description: String {
        switch self {
        case .host(let host): host
        case .wildcard(let host): "*.\(host)"
        case .address(_, let text): text
        }
    }

    /// Whether a text has the form of a host name: RFC 1123, 2.1, with `_` allowed too.
    package static func isHost(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
                (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && label.allSatisfy(\.isInIdentifier)
            }
    }

    /// Whether this name matches the host name `host`. False if this name is an address.
    func matches(_ host: String) -> Bool {
        let host = host.lowercased()
        switch self {
        case .host(let name): return host == name
        case .wildcard(let name): return host.hasSuffix(".\(name)") && !host.dropLast(name.count + 1).contains(".")
        case .address: return false
        }
    }
}

extension CertificateName {
    var generalName: GeneralName {
        switch self {
        case .host, .wildcard: .dnsName(description)
        case .address(let bytes, _): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }
    }

    init?(_ name: GeneralName) {
        switch name {
        case .dnsName(let text): self.init(text)
        case .ipAddress(let octets): self.init(addressBytes: Array(octets.bytes))
        default: return nil
        }
    }
}

extension [CertificateName] {
    /// Shortest list of hosts that cover all host names, for name constraints: no host is below another.
    var hostRoots: [String] {
        let hosts = Set(
            compactMap { name -> String? in
                switch name {
                case .host(let host), .wildcard(let host): host
                case .address: nil
                }
            })
        return hosts.filter { host in !hosts.contains { host.hasSuffix(".\($0)") } }.sorted()
    }

    /// Address ranges for name constraints, each as address bytes followed by mask bytes. An IPv4 loopback address
    /// gives 127.0.0.0/8.
    var addressRanges: [[UInt8]] {
        var ranges: [[UInt8]] = []
        for case .address(let bytes, _) in self {
            let range =
                bytes.count == 4 && bytes[0] == 127
                ? [127, 0, 0, 0, 255, 0, 0, 0] : bytes + [UInt8](repeating: 255, count: bytes.count)
            if !ranges.contains(range) { ranges.append(range) }
        }
        return ranges
    }
}
