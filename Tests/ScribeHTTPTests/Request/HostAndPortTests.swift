import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct HostAndPortTests {
    @Test(
        "a host header is read to its end, in lower case, with and without a port",
        arguments: [
            ("api.eka.care", "api.eka.care", nil, false), ("API.Eka.Care:443", "api.eka.care", 443, false),
            ("localhost.", "localhost", nil, false), ("scribe:8087", "scribe", 8087, false),
            ("127.0.0.1:0", "127.0.0.1", 0, true), ("[::1]:8087", "::1", 8087, true),
            ("[FE80::1%eth0]", "fe80::1", nil, true),
            ("256.1.1.1", "256.1.1.1", nil, false), ("1.2.3", "1.2.3", nil, false),
            ("a_b-c.test:65535", "a_b-c.test", 65_535, false),
        ] as [(String, String, Int?, Bool)])
    func hosts(text: String, host: String, port: Int?, isAddress: Bool) throws {
        let read = try #require(HostAndPort(text))
        #expect(read.host == host)
        #expect(read.port == port)
        #expect(read.isAddress == isAddress)
    }

    @Test(
        "a host header that two parsers could read differently is refused",
        arguments: [
            "", ".", ":80", "[::1].evil.example", "[::1]evil:80", "localhost:80@evil.example", "localhost:80:90",
            "a:65536",
            "a:123456", "a:8o", "evil.example/.eka.care", "evil.example?x", "evil.example#x", "a\\b", "a b", "a,b",
            "[::1",
            "[]", "[127.0.0.1]", "[evil]", "käfer.example", "a\u{0}b",
        ])
    func noHosts(text: String) {
        #expect(HostAndPort(text) == nil)
        #expect(WebOrigin("http://\(text)") == nil)
    }

    @Test("an origin is exactly an http or https scheme, a host and a port")
    func origins() throws {
        #expect(WebOrigin("https://doc.eka.care") == WebOrigin("https://DOC.eka.care:443"))
        #expect(WebOrigin("http://localhost:80") == WebOrigin("http://localhost"))
        #expect(WebOrigin("http://localhost") != WebOrigin("https://localhost"))
        #expect(try #require(WebOrigin("http://localhost:3000")).port == 3000)
        for text in [
            "null", "", "file://", "http:", "http:/localhost", "ftp://localhost", "//localhost", "http://localhost/",
        ] {
            #expect(WebOrigin(text) == nil, "\(text)")
        }
    }
}
