package import Foundation
package import NIOSSL

/// Trusted certificate authorities for outgoing TLS: the machine's own, and those that the operator adds.
package struct OutboundTrust: Sendable {
    /// The authorities of the machine alone.
    package static let system = OutboundTrust(added: [])

    private let added: [NIOSSLCertificate]

    private init(added: [NIOSSLCertificate]) { self.added = added }

    /// Parses added authorities. Nil for a text without a certificate.
    /// - Parameter pem: certificates one after another.
    package init?(pem: Data) {
        guard let added = try? NIOSSLCertificate.fromPEMBytes(Array(pem)), !added.isEmpty else { return nil }
        self.init(added: added)
    }

    /// TLS configuration of a client that checks certificate names.
    package var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if !added.isEmpty { configuration.additionalTrustRoots = [.certificates(added)] }
        return configuration
    }
}
