import Basics
import Certificates
import Engines
import Foundation
import Outbound

extension Setting.Parser where Value == OutboundTrust {
    /// Reads a PEM file with certificates of authorities.
    static let authorities = Self(valueType: .path) { (path) throws(Setting.Problem) in
        guard let trust = OutboundTrust(pem: try Setting.Parser<Data>.fileContents.read(path)) else {
            throw Setting.Problem(what: "contains no PEM certificate (-----BEGIN CERTIFICATE-----)")
        }
        return trust
    }
}

extension Setting.Parser {
    /// Reads a list, and names the first entry that is not one of its elements.
    private static func list<Element>(
        of make: @escaping @Sendable (String) -> Element?, writing examples: String
    ) -> Self where Value == [Element] {
        Self(valueType: .list) { (text) throws(Setting.Problem) in
            var elements: [Element] = []
            for entry in Setting.Parser<[String]>.list(text) {
                guard let element = make(entry) else {
                    throw Setting.Problem(what: "contains '\(entry)'; write \(examples)")
                }
                elements.append(element)
            }
            return elements
        }
    }
}

extension Setting.Parser where Value == [IPRange] {
    /// Reads IP addresses and ranges: `127.0.0.1,10.0.0.0/8`.
    static let ranges = list(of: { IPRange($0) }, writing: "addresses, or ranges such as 10.0.0.0/8")
}

extension Setting.Parser where Value == [OutboundRules.Exception] {
    /// Reads hosts, IP addresses and ranges: `receiver,10.0.0.0/8`.
    static let outboundExceptions = list(
        of: { IPRange($0) != nil || CertificateName.isHost($0) ? OutboundRules.Exception($0) : nil },
        writing: "hosts, or ranges such as 10.0.0.0/8")
}

extension Setting.Parser where Value == [CertificateName] {
    /// Reads hosts and addresses for a certificate: `scribe.test,192.168.1.20`.
    static let certificateNames = list(
        of: { CertificateName($0) }, writing: "hosts such as scribe.test, or addresses")
}

extension Setting.Parser where Value == [String] {
    /// Reads names of models: `nova-3-cardiology,nova-2-ours`.
    static let modelNames = names("names such as nova-3-cardiology")

    /// Reads ids of templates: `soap,t-123`.
    static let templateIDs = names("template ids such as soap")

    private static func names(_ example: String) -> Self {
        list(
            of: { name in
                let isName =
                    name.utf8.count <= 100 && name.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
                return isName && !name.isEmpty ? name : nil
            }, writing: example)
    }
}
