import Certificates
import HTTPTypes
import HummingbirdTesting
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer

struct AllowedHostsTests {
    private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration()
        change(&configuration)
        return configuration
    }

    @Test(
        "addresses, local names and the vendors' host names are allowed hosts",
        arguments: [
            "", "127.0.0.1:8087", "10.0.2.2", "[::1]:8087", "localhost", "scribe:8087", "mac.local",
            "host.docker.internal",
            "a.localhost", "scribe.test", "nas.lan", "nas.home.arpa", "api.eka.care", "API.EKA.CARE:8443",
            "vaarta.eka.care",
            "m-prod-voice-record.s3.ap-south-1.amazonaws.com", "any.bucket.s3.localhost", "sdp.suki.ai",
            "api.deepgram.com",
        ])
    func allowed(host: String) throws {
        #expect(try #require(configuration().hosts).contains(host))
    }

    @Test(
        "a host name that anyone could have registered is not allowed",
        arguments: [
            "evil.example", "127.0.0.1.evil.example", "[::1].evil.example", "localhost.evil.example",
            "api.eka.care.evil.example",
            "evileka.care", "bucket.s3.evil.example", "home.arpa.evil.example", "evil.example.",
            "localhost:80@evil.example", " ",
        ])
    func foreign(host: String) throws {
        let hosts = try #require(configuration().hosts)
        #expect(!hosts.contains(host))
        #expect(!hosts.contains(host), "nor when it asks again")
    }

    @Test(
        "configured hosts, the certificate's names and the public URL's host are allowed, and strict mode allows all"
    )
    func named() throws {
        let listed = try #require(configuration { $0.allowedHosts = ["Scribe.example", "*.staging.example"] }.hosts)
        for host in ["scribe.example", "scribe.example:8087", "a.staging.example"] { #expect(listed.contains(host)) }
        #expect(!listed.contains("a.scribe.example"))
        #expect(
            try #require(configuration { $0.publicURL = "https://public.example" }.hosts).contains(
                "public.example:8443"))
        #expect(try #require(configuration { $0.host = "own.example" }.hosts).contains("own.example"))
        let named = try #require(
            configuration { $0.tls.names = ["*.tls.example", "tls.example"].compactMap(CertificateName.init) }.hosts)
        #expect(named.contains("tls.example") && named.contains("a.tls.example") && !named.contains("b.example"))
        #expect(configuration { $0.allowedHosts = ["*"] }.hosts == nil)
        #expect(configuration { $0.authMode = .strict }.hosts == nil)
        #expect(configuration { $0.authMode = .open }.hosts != nil)
    }

    @Test(
        "a request under a host that is not allowed is 421 with advice, and reaches no family",
        arguments: [Transport.socket, .tls])
    func refused(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            guard case .socket(let socket, _) = client.door else { return }
            for path in ["/livez", "/voice/api/v2/transaction/history", "/", "/bucket/key"] {
                let answer = try await socket.answer(to: .init(path, method: .get, authority: "evil.example"))
                #expect(answer.status == 421)
                #expect(answer.text.contains("--allowed-hosts") && answer.text.split(separator: "\n").count == 1)
            }
            let door = try await socket.answer(to: .init("/__admin/info", method: .get, authority: "evil.example"))
            #expect(door.optional("code") == "foreign_host", "the operators' has a rule of its own")
            #expect(try await socket.answer(to: .init("/livez", method: .get, authority: "mac.local")).status == 200)
        }
    }
}
