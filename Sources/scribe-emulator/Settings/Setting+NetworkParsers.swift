import Certificates
import Engines
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeServer

extension Setting.Parser where Value == OutboundTrust {
    /// Reads a PEM file with certificates of authorities.
    static let authorities = Self(valueType: .path) { (path) throws(Setting.Problem) in
        guard let trust = OutboundTrust(pem: try Setting.Parser<Data>.fileContents.read(path)) else {
            throw Setting.Problem(what: "contains no PEM certificate (-----BEGIN CERTIFICATE-----)")
        }
        return trust
    }
}

extension Setting.Parser where Value == [IPRange] {
    /// Reads IP addresses and ranges: `127.0.0.1,10.0.0.0/8`.
    static let ranges = Self(valueType: .list) { (text) throws(Setting.Problem) in
        var ranges: [IPRange] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let range = IPRange(entry) else {
                throw Setting.Problem(what: "contains '\(entry)'; write addresses, or ranges such as 10.0.0.0/8")
            }
            ranges.append(range)
        }
        return ranges
    }
}

extension Setting.Parser where Value == [OutboundRules.Exception] {
    /// Reads hosts, IP addresses and ranges: `receiver,10.0.0.0/8`.
    static let outboundExceptions = Self(valueType: .list) { (text) throws(Setting.Problem) in
        var exceptions: [OutboundRules.Exception] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let exception = OutboundRules.Exception(entry), IPRange(entry) != nil || CertificateName.isHost(entry)
            else {
                throw Setting.Problem(what: "contains '\(entry)'; write hosts, or ranges such as 10.0.0.0/8")
            }
            exceptions.append(exception)
        }
        return exceptions
    }
}

extension Setting.Parser where Value == [CertificateName] {
    /// Reads hosts and addresses for a certificate: `scribe.test,192.168.1.20`.
    static let certificateNames = Self(valueType: .list) { (text) throws(Setting.Problem) in
        var names: [CertificateName] = []
        for entry in Setting.Parser<[String]>.list(text) {
            guard let name = CertificateName(entry) else {
                throw Setting.Problem(what: "contains '\(entry)'; write hosts such as scribe.test, or addresses")
            }
            names.append(name)
        }
        return names
    }
}
