import Certificates
import Foundation
import NIOSSL
import Outbound
import TestSupport
import Testing

@testable import Engines

/// Certificate authority of its own, and a certificate that it issued for localhost and 127.0.0.1.
struct TestAuthority {
    /// TLS context of a server with the certificate.
    let context: NIOSSLContext
    /// Trust in the authority.
    let trust: OutboundTrust

    init() throws {
        let folder = try TemporaryFolder()
        let made = try DevelopmentCertificates(
            folder: "\(folder.path)/tls",
            names: [.host("localhost"), .address(bytes: [127, 0, 0, 1], text: "127.0.0.1")],
            identifiers: .counting()
        )
        // TLS checks the dates of certificates by the machine's time.
        .certificate(at: Date())
        context = try made.certificate.context { _ in }
        trust = try #require(OutboundTrust(pem: Data(made.authority.utf8)))
    }
}
