import Basics
import Foundation
import HTTPTypes
import ServerTestSupport
import TestSupport
import Testing
import Yams

@testable import ScribeHTTP
@testable import ScribeServer

struct FrontPageTests {
    private static let browser: HTTPFields = [.accept: "text/html,application/xhtml+xml,*/*;q=0.8"]

    @Test("the front page shows a browser the base URL and the dev client, without scripts or frames")
    func page() async throws {
        try await TestServer().run(.socket) { client in
            let page = try await client.get("/", headers: Self.browser)
            #expect(page.status == 200)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.cacheControl] == "no-store")
            let policy = page.headers[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"))
            for part in [
                "scribe-emulator \(ScribeVersion.current)", "http://localhost", "dev-client", "dev-secret",
                #"href="/openapi.yaml""#, #"href="/readyz""#,
                #"<p><a href="/__console">Console</a>"#, "/connect-auth/v1/account/login",
            ] {
                #expect(page.text.contains(part), "\(part)")
            }
            #expect(!page.text.contains("<script"))
            let head = try await client.send(.head, "/", headers: Self.browser)
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test("the server's short addresses are the family's under an SDK's host, and a bucket cannot replace /healthz")
    func owners() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run(.socket) { anonymous in
            #expect(try await anonymous.send(.get, "/docs", host: "api.eka.care").status == 404)
            let signer = try await anonymous.login().signer()
            let put = try await anonymous.send(
                .put, "/healthz/x", headers: signer.sign("PUT", "/healthz/x", at: now), body: Data("a".utf8))
            #expect(put.status == 200)
            #expect(try await anonymous.get("/healthz").status == 200)
        }
    }

    @Test("the front page over TLS names the TLS port")
    func tls() async throws {
        try await TestServer().run(.tls) { client in
            let port = try #require(client.port)
            let page = try await client.get("/", headers: Self.browser)
            #expect(page.text.contains("https://localhost:\(port)"))
        }
    }

    @Test("the front page in strict mode has only the version and links")
    func strict() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        try await server.run(.socket) { client in
            let page = try await client.get("/", headers: Self.browser)
            #expect(page.status == 200)
            #expect(page.text.contains(ScribeVersion.current) && page.text.contains("/openapi.yaml"))
            for secret in ["dev-client", "dev-secret", "localhost", "curl"] { #expect(!page.text.contains(secret)) }
        }
    }

    @Test("/health, /healthz, /favicon.ico and /docs answer", arguments: Transport.allCases)
    func addresses(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            #expect(try await client.get("/health")["status"] == "alive")
            #expect(try await client.get("/healthz")["status"] == "alive")
            #expect(try await client.get("/favicon.ico").status == 204)
            let docs = try await client.get("/docs")
            #expect(docs.status == 302)
            #expect(docs.headers[.location] == "/")
        }
    }

    @Test("/openapi.json has the content of /openapi.yaml")
    func document() async throws {
        try await TestServer().run { client in
            let document = try await client.get("/openapi.json")
            #expect(document.status == 200)
            #expect(document.headers[.contentType] == "application/json")
            #expect(try document["openapi"].hasPrefix("3."))
            let yaml = try await client.get("/openapi.yaml")
            let isSame = document.json.isSame(as: try #require(try Yams.load(yaml: yaml.text)))
            #expect(isSame)
        }
    }

    @Test("the OpenAPI document of each family is served")
    func families() async throws {
        try await TestServer().run { client in
            for family in ["eka", "sessions", "suki", "listen", "omi", "status"] {
                let document = try await client.get("/openapi/\(family).yaml")
                #expect(document.status == 200 && document.text.contains("openapi: 3"), "\(family)")
            }
        }
    }

    @Test("the front page is a text for curl, and HTML for a browser")
    func text() async throws {
        try await TestServer().run { client in
            let text = try await client.get("/", headers: [.accept: "*/*"])
            #expect(text.status == 200)
            #expect(text.headers[.contentType] == "text/plain; charset=utf-8")
            #expect(text.text.hasPrefix("scribe-emulator 0"))
            #expect(text.text.contains("Client secret     dev-secret\n"), "\(text.text)")
            #expect(text.text.contains("BASE=http://"))
            #expect(try await client.send(.head, "/", headers: [.accept: "*/*"]).body.isEmpty)
            #expect(try await client.get("/", headers: [.accept: "application/xml"]).status == 403)
        }
    }

    @Test("the front page's addresses are S3's for other requests than a browser's GET")
    func objects() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            #expect(try await anonymous.get("/").status == 403)
            #expect(try await anonymous.get("/docs/key").status == 403)
            #expect(try await anonymous.send(.head, "/docs").status == 403, "HeadBucket")
            let older = try await anonymous.get("/docs?AWSAccessKeyId=a&Expires=1&Signature=b")
            #expect(older.status == 400 && older.text.contains("AWS4-HMAC-SHA256"))
            let signer = try await anonymous.login().signer()
            let list = try await anonymous.get("/docs", headers: signer.sign("GET", "/docs", at: now))
            #expect(list.text.contains("<ListBucketResult"))
            let buckets = try await anonymous.get("/", headers: Self.browser + signer.sign("GET", "/", at: now))
            #expect(buckets.text.contains("<ListAllMyBucketsResult"))
        }
    }

    @Test("an existing bucket named docs replaces the redirect of /docs")
    func bucket() async throws {
        let server = try TestServer()
        let now = server.manual.now
        try await server.run { anonymous in
            let signer = try await anonymous.login().signer()
            let put = try await anonymous.send(
                .put, "/docs/a", headers: signer.sign("PUT", "/docs/a", at: now), body: Data("a".utf8))
            #expect(put.status == 200)
            let docs = try await anonymous.get("/docs")
            #expect(docs.status == 403 && docs.text.contains("<Code>AccessDenied</Code>"))
            #expect(try await anonymous.get("/health").status == 200, "the others stay")
        }
    }
}

extension JSONValue {
    /// Whether this is what a YAML document has. A number without a fraction may be an integer in either.
    fileprivate func isSame(as yaml: Any) -> Bool {
        switch (self, yaml) {
        case (.object(let own), let other as [String: Any]):
            own.count == other.count
                && own.allSatisfy { name, value in other[name].map { value.isSame(as: $0) } ?? false }
        case (.array(let own), let other as [Any]):
            own.count == other.count && zip(own, other).allSatisfy { $0.isSame(as: $1) }
        case (.string(let own), let other as String): own == other
        case (.bool(let own), let other as Bool): own == other
        case (.null, is NSNull): true
        case (_, let other as Int): numberValue == Double(other)
        case (_, let other as Double): numberValue == other
        default: false
        }
    }
}
