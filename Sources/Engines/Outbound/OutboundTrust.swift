package import Foundation
package import NIOSSL

/// The authorities that the server trusts when it calls others over TLS: the machine's, and those that the operator adds.
package struct OutboundTrust: Sendable {
    /// The authorities of the machine alone.
    package static let machine = OutboundTrust(added: [])

    private let added: [NIOSSLCertificate]

    private init(added: [NIOSSLCertificate]) { self.added = added }

    /// - Parameter pem: certificates of authorities, one after another.
    /// - Returns: nil for a text without a certificate.
    package init?(pem: Data) {
        guard let added = try? NIOSSLCertificate.fromPEMBytes(Array(pem)), !added.isEmpty else { return nil }
        self.init(added: added)
    }

    /// For a client. Names are checked.
    package var configuration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if !added.isEmpty { configuration.additionalTrustRoots = [.certificates(added)] }
        return configuration
    }
}
