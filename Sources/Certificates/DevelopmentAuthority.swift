import Crypto
import Foundation
import ScribeDomain
import SwiftASN1
import X509

/// An authority that vouches for one machine's servers under the names of other people's. Its key would be worth stealing
/// if it could vouch for more: its own certificate, which clients trust, limits it to these names, to addresses that
/// lead back to this machine, and to servers.
struct DevelopmentAuthority: Sendable {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    /// In seconds. It is trusted by hand, which nobody wants to do every year.
    private static let lifetime = 10 * 365 * 86_400.0
    /// What Apple's systems take at most is 825 days, of public authorities 398.
    private static let leafLifetime = 397 * 86_400.0
    /// Clocks of phones and simulators are behind now and then.
    private static let backdating = 86_400.0

    init(certificate: Certificate, key: Certificate.PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    /// A fresh one.
    init(vouchingFor names: [CertificateName], at now: Date, identifiers: IdentifierSource) throws {
        key = Self.freshKey()
        let name = try DistinguishedName {
            OrganizationName("scribe-emulator")
            // Told apart in a list of those that are trusted.
            CommonName("scribe-emulator development \(Hex.encode(identifiers.bytes(3)))")
        }
        let publicKey = key.publicKey
        certificate = try Certificate(
            version: .v3, serialNumber: Self.serialNumber(identifiers), publicKey: publicKey,
            notValidBefore: now.addingTimeInterval(-Self.backdating),
            notValidAfter: now.addingTimeInterval(Self.lifetime),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
                Critical(
                    NameConstraints(
                        permittedDNSDomains: names.hostRoots,
                        permittedIPRanges: names.addressRanges.map { ASN1OctetString(contentBytes: $0[...]) },
                        permittedEmailAddresses: [], permittedURIDomains: []))
                try ExtendedKeyUsage([.serverAuth])
                SubjectKeyIdentifier(hash: publicKey)
            },
            issuerPrivateKey: key)
    }

    /// What it may vouch for.
    var limits: [CertificateName] {
        guard let constraints = try? certificate.extensions.nameConstraints else { return [] }
        let addresses = constraints.permittedIPRanges.compactMap { range -> CertificateName? in
            CertificateName(addressBytes: Array(range.bytes.prefix(range.bytes.count / 2)))
        }
        return constraints.permittedDNSDomains.compactMap(CertificateName.init) + addresses
    }

    /// Whether it could vouch for all of these.
    func mayVouch(for names: [CertificateName]) -> Bool {
        guard let constraints = try? certificate.extensions.nameConstraints else { return false }
        let roots = Array(constraints.permittedDNSDomains)
        let ranges = constraints.permittedIPRanges.map { Array($0.bytes) }
        return names.hostRoots.allSatisfy { host in roots.contains { host == $0 || host.hasSuffix(".\($0)") } }
            && names.addressRanges.allSatisfy(ranges.contains)
    }

    static func freshKey() -> Certificate.PrivateKey { Certificate.PrivateKey(P256.Signing.PrivateKey()) }

    /// A certificate for these names.
    /// - Parameter leafKey: the server's own.
    func issue(
        for names: [CertificateName], key leafKey: Certificate.PrivateKey, at now: Date, identifiers: IdentifierSource
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Self.serialNumber(identifiers), publicKey: leafKey.publicKey,
            notValidBefore: now.addingTimeInterval(-Self.backdating),
            notValidAfter: min(now.addingTimeInterval(Self.leafLifetime), certificate.notValidAfter),
            issuer: certificate.subject,  // Without a common name, which some take for a host.
            subject: try DistinguishedName { OrganizationName("scribe-emulator") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map(\.generalName))
                AuthorityKeyIdentifier(keyIdentifier: try certificate.extensions.subjectKeyIdentifier?.keyIdentifier)
                SubjectKeyIdentifier(hash: leafKey.publicKey)
            },
            issuerPrivateKey: key)
    }

    private static func serialNumber(_ identifiers: IdentifierSource) -> Certificate.SerialNumber {
        // Positive, and at most 20 bytes long (RFC 5280, 4.1.2.2).
        var bytes = identifiers.bytes(16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        return Certificate.SerialNumber(bytes: bytes)
    }
}
