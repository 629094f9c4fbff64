import Basics
import CryptoExtras
import Foundation
import HTTPTypes
import JWTKit
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer
@testable import Suki

struct ClinicianTests {
    @Test(
        "a clinician has to register, registers once, and then logs in for a token of one hour",
        .covers("U-01", "U-02", "U-03"),
        arguments: Transport.allCases)
    func logIn(transport: Transport) async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run(transport) { client in
            let stranger = try await client.logIn("dr-rao")
            #expect(stranger.status == 401)
            #expect(stranger.errorID == "provider_not_registered")
            let first = try await client.register("dr-rao")
            #expect(first.status == 201)
            #expect(first.body.isEmpty)
            let second = try await client.register("dr-rao")
            #expect(second.status == 409)
            #expect(second.json["code"] == .integer(409))
            // The same name at another partner's is somebody else.
            #expect(try await client.register("dr-rao", of: "demo-partner-2").status == 201)
            let clinician = try await client.clinician()
            let id = try await clinician.ambientSession()
            manual.advance(by: .seconds(3599))
            #expect(try await clinician.ambient(id, "status").status == 200)
            manual.advance(by: .seconds(2))
            let late = try await clinician.ambient(id, "status")
            #expect(late.status == 401)
            #expect(late.errorID == "invalid_sdp_token")
            // The session is the clinician's, not the token's.
            #expect(try await client.clinician().ambientStatus(id) == "created")
        }
    }

    @Test("the ambient API answers 401 in its envelope without a token, or with any other API's token", .covers("U-03"))
    func tokens() async throws {
        try await TestServer().run { client in
            let ours = try await client.login().headers[.authorization]?.dropFirst("Bearer ".count)
            for token in [nil, "", "x", TestScribeClient.partnerToken("dr-rao"), ours.map(String.init)] {
                var other = client
                other.headers[.sukiToken] = token
                let answer = try await other.post("\(TestScribeClient.ambient)/create", "{}")
                #expect(answer.status == 401)
                #expect(answer.json["code"] == .integer(401))
                #expect(answer.errorID == "invalid_sdp_token")
            }
        }
    }

    private struct Expiry: JWTPayload {
        let exp: Double
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    private struct Claims: JWTPayload {
        let sub: String
        let exp: Double
        var iss = "idp"
        var aud = ["other", "suki"]
        func verify(using algorithm: some JWTAlgorithm) throws {}
    }

    @Test("a clinician's token verifies with the published key, which survives a restart", .covers("U-04"))
    func publishedKeys() async throws {
        let server = try TestServer()
        let tokens = Box<[String]>([])
        for _ in 0..<2 {
            try await server.run { client in
                let published = try await client.get("/api/auth/.well-known/jwks-pub.json")
                #expect(published.status == 200)
                #expect(try published["keys.0.kid"] == "sdp-pub")
                #expect(try published["keys.0.alg"] == "RS256")
                let token = try #require(try await client.clinician().headers[.sukiToken])
                tokens.set(tokens.value + [token])
                let keys = JWTKeyCollection()
                try await keys.add(jwksJSON: published.text)
                for token in tokens.value {
                    let claims = try await keys.verify(token, as: Expiry.self)
                    #expect(claims.exp == server.manual.now.timeIntervalSince1970 + 3600)
                }
            }
        }
    }

    @Test("the keys of each namespace's tokens are published under every form of host, also where none names it")
    func keysOfNamespaces() async throws {
        try await TestServer().run(.socket) { client in
            let path = "/api/auth/.well-known/jwks-pub.json"
            var tokens: [String: String] = [:]
            for name in ["a", "b"] {
                let made = try await client.namespace(name)
                tokens[name] = try await client.clinician(of: made.partner).headers[.sukiToken]
                // A reset keeps the keys.
                #expect(try await client.post("/__admin/reset?namespace=\(name)", "{}").status == 200)
            }
            _ = try await client.namespace("without-a-login")
            let own = try #require(try await client.clinician().headers[.sukiToken])
            for host in ["localhost", "127.0.0.1:8087", "[::1]", "sdp.suki.ai", "api.eka.care", "s3.amazonaws.com"] {
                func keys(_ prefix: String, _ headers: HTTPFields = [:]) async throws -> JWTKeyCollection {
                    let answer = try await client.send(.get, prefix + path, host: host, headers: headers)
                    #expect(answer.status == 200, "\(host): \(answer.text)")
                    let keys = JWTKeyCollection()
                    try await keys.add(jwksJSON: answer.text)
                    return keys
                }
                let all = try await keys("")
                _ = try await all.verify(own, as: Expiry.self)
                for (name, token) in tokens {
                    let ofOne = try await keys("/ns/\(name)")
                    for keys in [all, ofOne, try await keys("", [.scribeNamespace: name])] {
                        _ = try await keys.verify(token, as: Expiry.self)
                    }
                    for foreign in [own] + tokens.filter({ $0.key != name }).values {
                        await #expect(throws: (any Error).self) { try await ofOne.verify(foreign, as: Expiry.self) }
                    }
                }
            }
            let list = try await client.get(path)
            #expect(try list["keys.0.kid"] == "sdp-pub")
            #expect(list.text.split(separator: #""kid""#).count == 4, "the server's, and those of two namespaces")
        }
    }

    @Test("in open mode an ambient request without a token is the demo clinician's")
    func openMode() async throws {
        var server = try TestServer()
        server.configuration.authMode = .open
        try await server.run { client in
            let session = try await client.ambientSession()
            #expect(try await client.ambientStatus(session) == "created")
            var other = client
            other.headers[.sukiToken] = "x"
            let answer = try await other.post("\(TestScribeClient.ambient)/create", "{}")
            #expect(answer.status == 401)
        }
    }

    @Test("an invalid clinician login is refused with its reason")
    func refusals() async throws {
        try await TestServer().run { client in
            let token = TestScribeClient.partnerToken("dr-rao")
            let bodies = [
                #"{"partner_id":"nobody","partner_token":"\#(token)"}"#,
                #"{"partner_id":"demo-partner","partner_token":"no.jwt"}"#,
                #"{"partner_id":"demo-partner","partner_token":"\#(TestScribeClient.partnerToken(nil))"}"#,
                #"{"partner_id":"demo-partner"}"#, #"{"partner_id":7,"partner_token":"x"}"#, "[]",
            ]
            for body in bodies {
                let answer = try await client.post("/api/v1/auth/login", body)
                #expect(answer.status == 400, "\(body)")
                #expect(answer.errorID == "invalid_request")
            }
            #expect(
                try await client.register("a", of: "demo-partner", #","provider_specialty":"ASTROLOGY""#).status == 400)
        }
    }

    @Test("a partner has at most a thousand clinicians, and registered ones can still log in")
    func most() async throws {
        try await TestServer().run { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        let answer = try await client.register("\(number)", of: "demo-partner")
                        #expect(answer.status == 201)
                    }
                }
                try await group.waitForAll()
            }
            let next = try await client.register("one more", of: "demo-partner")
            #expect(next.status == 422)
            #expect(next.errorID == "provider_limit_exceeded")
            #expect(try await client.register("7", of: "demo-partner").status == 409)
            let login = #"{"partner_id":"demo-partner","partner_token":"\#(TestScribeClient.partnerToken("7"))"}"#
            #expect(try await client.post("/api/v1/auth/login", login).status == 200)
        }
    }

    @Test("concurrent logins fetch a partner's keys once")
    func joined() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let path = "/api/auth/.well-known/jwks-pub.json"
        // Any server that has keys, and counts who asks.
        try await TestServer().run(.socket) { [self] partner in
            let port = try #require(partner.port)
            let server = try strict(key, keys: "http://127.0.0.1:\(port)\(path)")
            let token = try await sign("dr", until: server.manual.now.timeIntervalSince1970 + 60, with: key)
            try await server.run { [self] client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<60 {
                        group.addTask { [self] in
                            let answer = try await client.post("/api/v1/auth/login", body("elsewhere", token))
                            #expect(answer.status == 401, "these are not its keys")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            let asked = try await partner.get("/metrics").text.split(separator: "\n").filter {
                $0.hasPrefix("scribe_requests_total") && $0.contains(path)
            }
            #expect(asked.map { $0.split(separator: " ").last } == ["1"])
        }
    }

    @Test("a document that is no key set is not fetched again at each login")
    func unusableKeys() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        try await TestServer().run(.socket) { [self] partner in
            let port = try #require(partner.port)
            let server = try strict(key, keys: "http://127.0.0.1:\(port)/voice/ping")
            let token = try await sign("dr", until: server.manual.now.timeIntervalSince1970 + 60, with: key)
            @Sendable func asked() async throws -> Substring? {
                try await partner.get("/metrics").text.split(separator: "\n").first {
                    $0.hasPrefix("scribe_requests_total") && $0.contains("/voice/ping")
                }?.split(separator: " ").last
            }
            try await server.run { [self] client in
                var statuses: Set<Int> = []
                for _ in 1...5 {
                    statuses.insert(try await client.post("/api/v1/auth/login", body("elsewhere", token)).status)
                }
                #expect(statuses.count == 1 && !statuses.contains(200), "\(statuses)")
                #expect(try await asked() == "1")
                server.manual.advance(by: .seconds(11))
                _ = try await client.post("/api/v1/auth/login", body("elsewhere", token))
                #expect(try await asked() == "2")
            }
        }
    }

    /// A partner with keys of its own.
    private func strict(
        _ key: _RSA.Signing.PrivateKey, _ more: String = "", keys address: String = "http://127.0.0.1:18999/keys"
    ) throws -> TestServer {
        var server = try TestServer()
        let primitives = try key.publicKey.getKeyPrimitives()
        let set = """
            {"keys":[{"kty":"RSA","kid":"p","use":"sig","alg":"RS256","n":"\(Base64URL.encode(primitives.modulus))",\
            "e":"\(Base64URL.encode(primitives.publicExponent))"}]}
            """
        let keys = "\(server.folder.path)/keys.json"
        try set.write(toFile: keys, atomically: true, encoding: .utf8)
        let file = "\(server.folder.path)/clients.yaml"
        try """
        clients:
          - { client_id: c, client_secret: secret-of-c, business_id: b, user_id: u, doctor_id: o }
        partners:
          - { partner_id: clinic, client_id: c, jwks_file: "\(keys)", organisations: [ours], issuer: "idp", audience: "suki"\(more) }
          - { partner_id: keyless, client_id: c }
          - { partner_id: elsewhere, client_id: c, jwks_url: "\(address)" }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        server.configuration.clientsFile = file
        server.configuration.authMode = .strict
        return server
    }

    private func sign(
        _ subject: String, until end: Double, for audience: [String] = ["other", "suki"],
        with key: _RSA.Signing.PrivateKey
    ) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(
            rsa: try Insecure.RSA.PrivateKey(pem: key.pemRepresentation), digestAlgorithm: .sha256,
            kid: JWKIdentifier(string: "p"))
        return try await keys.sign(
            Claims(sub: subject, exp: end, aud: audience), kid: JWKIdentifier(string: "p"))
    }

    private func body(_ partner: String, _ token: String, organisation: String = "ours", _ more: String = "") -> String
    {
        #"{"partner_id":"\#(partner)","partner_token":"\#(token)","provider_name":"Dr","provider_org_id":"\#(organisation)"\#(more)}"#
    }

    @Test("a partner's keys verify its tokens, and strict mode refuses a partner without keys", .covers("U-01"))
    func verified() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let other = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let server = try strict(key)
        let now = server.manual.now.timeIntervalSince1970
        let good = try await sign("dr", until: now + 60, with: key)
        let old = try await sign("dr", until: now - 1, with: key)
        let strange = try await sign("dr", until: now + 60, for: ["another"], with: key)
        let forged = try await sign("dr", until: now + 60, with: other)
        try await server.run { client in
            for (partner, token, organisation, status) in [
                ("clinic", forged, "ours", 401), ("clinic", strange, "ours", 401), ("clinic", old, "ours", 401),
                ("clinic", TestScribeClient.partnerToken("dr"), "ours", 401), ("keyless", good, "ours", 401),
                ("elsewhere", good, "ours", 502), ("demo-partner", good, "ours", 400), ("clinic", good, "theirs", 403),
                ("clinic", good, "ours", 201),
            ] {
                let answer = try await client.post(
                    "/api/v1/auth/register", body(partner, token, organisation: organisation))
                #expect(answer.status == status, "\(partner): \(answer.text)")
                if status == 403 { #expect(answer.errorID == "sbac_denied") }
            }
            let login = try await client.post("/api/v1/auth/login", body("clinic", good))
            var clinician = client
            clinician.headers[.sukiToken] = try login["suki_token"]
            let session = try await clinician.ambientSession()
            #expect(try await clinician.ambientStatus(session) == "created")
            #expect(try await client.post("/api/v1/auth/login", body("elsewhere", good)).status == 502)
        }
    }

    @Test("a shared partner token needs provider_id to name the clinician")
    func bearer() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let server = try strict(key, ", bearer: true")
        let token = try await sign("clinic", until: server.manual.now.timeIntervalSince1970 + 60, with: key)
        try await server.run { client in
            let more = { (id: String) in #","provider_id":"\#(id)""# }
            #expect(try await client.post("/api/v1/auth/register", body("clinic", token)).status == 400)
            #expect(try await client.post("/api/v1/auth/register", body("clinic", token, more("a b"))).status == 400)
            for provider in ["asha", "ravi"] {
                let answer = try await client.post("/api/v1/auth/register", body("clinic", token, more(provider)))
                #expect(answer.status == 201)
            }
            let login = try await client.post("/api/v1/auth/login", body("clinic", token, more("asha")))
            var partner = client
            partner.headers[.sukiToken] = try login["suki_token"]
            let create = "\(TestScribeClient.ambient)/create"
            #expect(try await partner.post(create, "{}").errorID == "missing_sdp_provider_id_header")
            for (provider, status, id) in [
                ("a b", 400, "invalid_sdp_provider_id"), ("nobody", 401, "provider_not_registered"),
            ] {
                partner.headers[.sukiProvider] = provider
                let answer = try await partner.post(create, "{}")
                #expect(answer.status == status)
                #expect(answer.errorID == id)
            }
            partner.headers[.sukiProvider] = "asha"
            let session = try await partner.ambientSession()
            partner.headers[.sukiProvider] = "ravi"
            #expect(try await partner.ambient(session, "status").status == 404)
        }
    }
}
