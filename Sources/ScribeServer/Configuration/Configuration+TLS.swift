package import Basics
package import Certificates

extension Configuration {
    /// The source of the TLS certificate: the configured files, else the development authority.
    func certificateSource(_ identifiers: IdentifierSource) -> ServedCertificate.Source {
        if let certificate = tls.certificate, let key = tls.key { return .files(certificate: certificate, key: key) }
        return .development(developmentCertificates(identifiers))
    }

    /// The development authority in the folder `tls-dir`; without the setting, in `tls` of the data folder. The command
    /// line sets one folder for each user.
    package func developmentCertificates(_ identifiers: IdentifierSource) -> DevelopmentCertificates {
        DevelopmentCertificates(
            folder: authorityFolder, names: HostNames.certificateNames(and: tls.names), identifiers: identifiers)
    }

    private var authorityFolder: String { tls.folder ?? "\(dataFolder)/tls" }
}
