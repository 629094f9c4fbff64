import Testing

@testable import Certificates

struct CertificateNameTests {
    @Test("a certificate name is a host, a wildcard host or an IP address")
    func names() {
        #expect(CertificateName("API.eka.care") == .host("api.eka.care"))
        #expect(CertificateName("*.s3.amazonaws.com") == .wildcard("s3.amazonaws.com"))
        #expect(CertificateName("10.0.2.2") == .address(bytes: [10, 0, 2, 2], text: "10.0.2.2"))
        #expect(CertificateName("::1") == .address(bytes: [UInt8](repeating: 0, count: 15) + [1], text: "::1"))
    }

    @Test(
        "a text that is no host, wildcard host or IP address is no certificate name",
        arguments: [
            "", ".", "a..b", "-a", "a-", "a b", "a/b", "*", "*.", "a.*", "http://a", "a:1", "ü", "a\n", "10.0.0.0/8",
            String(repeating: "a", count: 64), [String](repeating: "abc", count: 70).joined(separator: "."),
        ])
    func noNames(text: String) { #expect(CertificateName(text) == nil) }

    @Test("a wildcard certificate name covers exactly one label")
    func covering() {
        let star = CertificateName.wildcard("s3.amazonaws.com")
        #expect(star.matches("Bucket.s3.amazonaws.com"))
        #expect(!star.matches("s3.amazonaws.com"))
        #expect(!star.matches("a.b.s3.amazonaws.com"))
        #expect(!star.matches("s3.amazonaws.com.evil.example"))
        #expect(CertificateName.host("localhost").matches("LOCALHOST"))
        #expect(!CertificateName.host("localhost").matches("localhost.evil.example"))
    }

    @Test("an authority's name constraints are the fewest host roots, and all of loopback")
    func roots() {
        let names = [
            "s3.amazonaws.com", "*.s3.amazonaws.com", "a.s3.amazonaws.com", "localhost", "127.0.0.1", "127.0.0.2",
        ]
        .compactMap(CertificateName.init)
        #expect(names.hostRoots == ["localhost", "s3.amazonaws.com"])
        #expect(names.addressRanges == [[127, 0, 0, 0, 255, 0, 0, 0]])
    }
}
