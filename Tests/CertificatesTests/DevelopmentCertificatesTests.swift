import Testing

@testable import Certificates

struct DevelopmentCertificatesTests {
    @Test("placeholder") func placeholder() { #expect(CertificateName("::1") != nil) }
}
