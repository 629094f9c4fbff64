package import Certificates
import Foundation
package import ScribeDomain

extension Configuration {
    /// Where the certificate comes from.
    func certificateSource(_ identifiers: IdentifierSource) -> ServedCertificate.Source {
        if let certificate = tls.certificate, let key = tls.key { return .files(certificate: certificate, key: key) }
        return .development(developmentCertificates(identifiers))
    }

    /// The authority of this machine's user.
    package func developmentCertificates(_ identifiers: IdentifierSource) -> DevelopmentCertificates {
        DevelopmentCertificates(
            folder: authorityFolder, names: HostNames.certificateNames(and: tls.names), identifiers: identifiers)
    }

    private var authorityFolder: String { tls.folder ?? "\(dataFolder)/tls" }
}
