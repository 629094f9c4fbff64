import Basics
import Foundation
import HTTPTypes
import HummingbirdTesting
import ServerTestSupport
import TestSupport
import Testing

@testable import Listen
@testable import ScribeHTTP

struct ListenGrantTests {
    private static let path = "/v1/auth/grant"
    private static let key: HTTPFields = [.authorization: "Token org_dev_key"]
    private static let upgrade: HTTPFields = [
        .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
        .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    private static func bearer(_ token: String) -> HTTPFields { [.authorization: "Bearer \(token)"] }

    @Test(
        "a Deepgram key is exchanged for a token of the requested number of seconds",
        arguments: [("", 30), ("{}", 30), (#"{"ttl_seconds":null}"#, 30), (#"{"ttl_seconds":1}"#, 1)],
        Transport.allCases
    )
    func lifetimes(wanted: (body: String, lifetime: Int64), transport: Transport) async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run(transport) { client in
            let answer = try await client.send(.post, Self.path, headers: Self.key, body: Data(wanted.body.utf8))
            #expect(answer.status == 200)
            #expect(answer.json["expires_in"] == .integer(wanted.lifetime))
            let token = try answer["access_token"]
            let headers = Self.upgrade + Self.bearer(token)
            if transport == .inProcess {
                #expect(try await client.get("/v1/listen", headers: headers).status == 101)
                manual.advance(by: .seconds(wanted.lifetime + 1))
                #expect(try await client.get("/v1/listen", headers: headers).status == 401)
            }
        }
    }

    @Test(
        "a token grant refuses a lifetime that is no whole number from 1 to 3600",
        arguments: ["0", "3601", "-1", "1.5", #""30""#, "[]", "99999999999999999999"])
    func refused(lifetime: String) async throws {
        try await TestServer().run { client in
            let body = Data(#"{"ttl_seconds":\#(lifetime)}"#.utf8)
            let answer = try await client.send(.post, Self.path, headers: Self.key, body: body)
            #expect(answer.status == 400)
            #expect(try answer["err_code"] == "Bad Request")
        }
    }

    @Test("a token grant accepts a Deepgram key only, no login token and no granted token")
    func credentials() async throws {
        try await TestServer().run { client in
            let none = try await client.post(Self.path, "{}")
            #expect(none.status == 401)
            #expect(try none["err_code"] == "INVALID_AUTH")
            for header in ["", " ", "Token", "Bearer ", "Basic x"] {
                let empty = try await client.send(
                    .post, Self.path, headers: [.authorization: header], body: Data("{}".utf8))
                #expect(empty.status == 401, "\(header)")
            }
            let login = try await client.login()
            #expect(try await login.post(Self.path, "{}").status == 401)
            let token = try await client.send(.post, Self.path, headers: Self.key, body: Data())["access_token"]
            let again = try await client.send(.post, Self.path, headers: Self.bearer(token), body: Data())
            #expect(again.status == 403)
            #expect(try again["err_code"] == "INSUFFICIENT_PERMISSIONS")
        }
    }

    @Test("a granted token opens live recognition as a bearer token, and no other route")
    func scope() async throws {
        try await TestServer().run { client in
            let token = try await client.send(.post, Self.path, headers: Self.key, body: Data())["access_token"]
            #expect(try await client.get("/v1/listen", headers: Self.upgrade + Self.bearer(token)).status == 101)
            var protocols = Self.upgrade
            protocols[.secWebSocketProtocol] = "bearer, \(token)"
            let opened = try await client.get("/v1/listen", headers: protocols)
            #expect(opened.status == 101)
            let audio = TestAudio.wav(seconds: 2)
            let heard = try await client.send(.post, "/v1/listen", headers: Self.bearer(token), body: audio)
            #expect(heard.status == 200)

            let asKey = Self.upgrade + [.authorization: "Token \(token)"]
            #expect(try await client.get("/v1/listen", headers: asKey).status == 401)
            let samples = try await client.get("/v1/listen/pcm", headers: Self.upgrade + Self.bearer(token))
            #expect(samples.status == 401)
            for path in [
                "/voice/api/v2/transaction/history", "/voice/v1/sessions/some-session", "/v1/conversations",
                "/v3/memories", "/connect-auth/v1/user/info", "/__admin/transactions",
            ] {
                let answer = try await client.get(path, headers: Self.bearer(token) + [HTTPField.Name("auth")!: token])
                #expect([401, 403, 404].contains(answer.status), "\(path)")
            }
        }
    }

    @Test(
        "Deepgram's other paths answer 404 in Deepgram's envelope on every host",
        arguments: ["/v2/listen", "/v1/auth/keys"])
    func others(path: String) async throws {
        try await TestServer().run { client in
            for host in ["api.deepgram.com", "api.eka.care", "localhost"] {
                let answer = try await client.get(path, headers: Self.key + [HTTPField.Name("Host")!: host])
                #expect(answer.status == 404, "\(host)")
                #expect(try answer["err_code"] == "NOT_FOUND", "\(host)")
            }
        }
    }

    @Test(
        "an unknown path under a live vendor's host answers 404 in Deepgram's envelope",
        arguments: ["/v1/projects", "/v1/speak", "/v1/nothing/at/all", "/voice/x", "/v3/listen", "/x"])
    func unknown(path: String) async throws {
        try await TestServer().run(.socket) { client in
            guard case .socket(let socket, _) = client.door else { return }
            for host in ListenFamily.hostNames {
                let answer = try await socket.answer(to: .init(path, method: .get, authority: host))
                #expect(answer.status == 404, "\(host)")
                #expect(try answer["err_code"] == "NOT_FOUND", "\(host)")
                #expect(try answer["err_msg"] == answer.headers[.dgError], "\(host)")
                #expect(try answer["request_id"] == answer.headers[.dgRequestID], "\(host)")
                #expect(try UUID(uuidString: answer["request_id"]) != nil, "\(host)")
            }
        }
    }

    @Test("OkHttp gets a refused subprotocol key as status 401, and other clients in the opened socket")
    func handshakes() async throws {
        try await TestServer().run { client in
            var headers = Self.upgrade
            headers[.secWebSocketProtocol] = "token, no-such-key"
            let opened = try await client.get("/v1/listen", headers: headers)
            #expect(opened.status == 101)
            headers[.userAgent] = "okhttp/4.12.0"
            let refused = try await client.get("/v1/listen", headers: headers)
            #expect(refused.status == 401)
        }
    }
}
