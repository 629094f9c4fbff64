import Basics
import Crypto
import Foundation
import SwiftASN1
import X509

/// Certificate authority for development, which issues certificates for the vendors' host names and for this machine.
///
/// Name constraints in the authority's certificate, which clients trust, limit the damage of a stolen key. They permit
/// only these host names, addresses that lead back to this machine, and server certificates.
struct DevelopmentAuthority: Sendable {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    /// Lifetime of the authority in seconds: long, because people trust the authority by hand.
    private static let lifetime = 10 * 365 * 86_400.0
    /// Lifetime of an issued certificate in seconds. Apple's systems accept at most 825 days, and 398 from public
    /// authorities.
    private static let leafLifetime = 397 * 86_400.0
    /// Time by which certificates are dated back, in seconds, because clocks of phones and simulators may be behind.
    private static let backdating = 86_400.0

    init(certificate: Certificate, key: Certificate.PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Creates an authority with a fresh key.
    init(vouchingFor names: [CertificateName], at now: Date, identifiers: IdentifierSource) throws {
        key = Self.freshKey()
        let name = try DistinguishedName {
            OrganizationName("scribe-emulator")
            // Random digits tell several authorities apart in a trust store.
            CommonName("\(Self.name) \(Hex.encode(identifiers.bytes(3)))")
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

    /// Names and addresses that the authority may issue certificates for.
    var limits: [CertificateName] {
        guard let constraints = try? certificate.extensions.nameConstraints else { return [] }
        let addresses = constraints.permittedIPRanges.compactMap { range -> CertificateName? in
            CertificateName(addressBytes: Array(range.bytes.prefix(range.bytes.count / 2)))
        }
        return constraints.permittedDNSDomains.compactMap(CertificateName.init) + addresses
    }

    /// Whether the authority may issue certificates for all of these names.
    func permits(for names: [CertificateName]) -> Bool {
        guard let constraints = try? certificate.extensions.nameConstraints else { return false }
        let roots = Array(constraints.permittedDNSDomains)
        let ranges = constraints.permittedIPRanges.map { Array($0.bytes) }
        return names.hostRoots.allSatisfy { host in roots.contains { host == $0 || host.hasSuffix(".\($0)") } }
            && names.addressRanges.allSatisfy(ranges.contains)
    }

    private static let name = "scribe-emulator development"

    /// Whether a development authority issued a certificate, by the issuer's name.
    static func hasIssued(_ certificate: Certificate) -> Bool { "\(certificate.issuer)".contains(name) }

    static func freshKey() -> Certificate.PrivateKey { Certificate.PrivateKey(P256.Signing.PrivateKey()) }

    /// Issues a server certificate for these names.
    /// - Parameter leafKey: key of the server.
    func issue(
        for names: [CertificateName], key leafKey: Certificate.PrivateKey, at now: Date, identifiers: IdentifierSource
    ) throws -> Certificate {
        try Certificate(
            version: .v3, serialNumber: Self.serialNumber(identifiers), publicKey: leafKey.publicKey,
            notValidBefore: now.addingTimeInterval(-Self.backdating),
            notValidAfter: min(now.addingTimeInterval(Self.leafLifetime), certificate.notValidAfter),
            issuer: certificate.subject,  // No common name: some clients take it for a host.
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
        // RFC 5280, 4.1.2.2: serial numbers are positive and at most 20 bytes long.
        var bytes = identifiers.bytes(16)
        bytes[0] = bytes[0] & 0x7F | 0x40
        return Certificate.SerialNumber(bytes: bytes)
    }
}
