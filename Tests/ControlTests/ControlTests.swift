import Basics
import Engines
import Foundation
import HTTPTypes
import HummingbirdTesting
import Outbound
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer

struct ControlTests {
    private static let operatorToken: HTTPFields = [.authorization: "Bearer operator"]

    private func guarded() throws -> TestServer {
        var server = try TestServer()
        server.configuration.adminToken = "operator"
        return server
    }

    @Test(
        "the operator API serves the server's version and settings, and its own OpenAPI document",
        arguments: Transport.allCases)
    func info(transport: Transport) async throws {
        try await TestServer().run(transport) { client in
            let info = try await client.get("/__admin/info")
            #expect(info.status == 200)
            #expect(try info["settings.version"] == ScribeVersion.current)
            #expect(try info["settings.transcriber"] == "fake")
            let document = try await client.get("/__admin/openapi.yaml")
            #expect(document.text.contains("version: \(ScribeVersion.current)"))
            #expect(document.text.contains("/__admin/info"))
        }
    }

    @Test("the operator API refuses requests without the operator token, also with a client's token")
    func token() async throws {
        try await guarded().run { anonymous in
            let client = try await anonymous.login()
            for headers in [
                [:], client.headers, [.authorization: "Bearer operato"], [.authorization: "Bearer "],
                [.authorization: ""],
            ] as [HTTPFields] {
                let answer = try await anonymous.get("/__admin/info", headers: headers)
                #expect(answer.status == 401)
                #expect(answer.headers[.wwwAuthenticate] == "Bearer")
                #expect(answer.headers[.contentType] == "application/problem+json")
                #expect(try answer["code"] == "unauthenticated")
            }
            #expect(try await anonymous.get("/__admin/info", headers: Self.operatorToken).status == 200)
        }
    }

    @Test(
        "a server that is strict or reachable from the network asks for the operator token in its data folder",
        arguments: [("127.0.0.1", AuthMode.strict), ("0.0.0.0", .strict), ("0.0.0.0", .lenient)])
    func keptToken(host: String, mode: AuthMode) async throws {
        var server = try TestServer()
        (server.configuration.host, server.configuration.authMode) = (host, mode)
        server.configuration.allowsUnverifiedTokensFromNetwork = true
        let file = "\(server.configuration.dataFolder)/admin-token"
        try await server.run { client in
            let token = String(decoding: try #require(FileManager.default.contents(atPath: file)), as: UTF8.self)
            #expect(token.count == 40)
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            #expect(try await client.get("/__admin/info").status == 401)
            #expect(try await client.get("/__admin/info", headers: [.authorization: "Bearer \(token)"]).status == 200)
        }
    }

    @Test("the operator API refuses pages of other sites, and lets none read an answer")
    func pages() async throws {
        let names = ["origin": HTTPField.Name.origin, "site": .secFetchSite]
        let foreign: [(String, String)] = [
            ("origin", "https://console.eka.care"), ("origin", "http://localhost:3000"), ("origin", "null"),
            ("site", "cross-site"), ("site", "same-site"),
        ]
        var server = try TestServer()
        server.configuration.allowedOrigins = ["*"]
        try await server.run { client in
            for (name, value) in foreign {
                let field = try #require(names[name])
                let answer = try await client.get("/__admin/info", headers: [field: value])
                #expect(answer.status == 403, "\(name): \(value)")
                #expect(try answer["code"] == "foreign_page")
                #expect(answer.headers[.accessControlAllowOrigin] == nil)
                let preflight = try await client.send(
                    .options, "/__admin/info", headers: [field: value, .accessControlRequestMethod: "GET"])
                #expect(preflight.headers[.accessControlAllowOrigin] == nil)
                #expect(preflight.headers[.accessControlAllowMethods] == nil)
                #expect(preflight.status >= 400)
            }
            for site in ["same-origin", "none"] {
                let answer = try await client.get(
                    "/__admin/info", headers: [.secFetchSite: site, .scribeAdmin: "1"])
                #expect(answer.status == 200)
            }
        }
    }

    @Test("without an operator token a browser's request to the operator API needs the X-Scribe-Admin header")
    func marks() async throws {
        try await TestServer().run { client in
            for operation in try DocumentedOperation.all() where operation.path.hasPrefix("/__admin") {
                for mark in [[:], [.scribeAdmin: ""], [.scribeAdmin: "0"]] as [HTTPFields] {
                    for site in ["same-origin", "none"] {
                        let answer = try await client.send(
                            operation.method, operation.path, headers: mark + [.secFetchSite: site])
                        #expect(answer.status == 403, "\(operation)")
                        #expect(try answer["code"] == "unmarked")
                    }
                }
            }
            #expect(try await client.get("/__admin/info").status == 200, "a program says nothing of sites")
        }
        try await guarded().run { client in
            let answer = try await client.get("/__admin/info", headers: Self.operatorToken + [.secFetchSite: "none"])
            #expect(answer.status == 200, "a token is enough")
        }
    }

    @Test("wrong operator tokens from one address are slowed down, and the right token is not")
    func guessing() async throws {
        var server = try guarded()
        server.configuration.trustedProxies = ["127.0.0.0/8", "::1"].compactMap(IPRange.init)
        let manual = server.manual
        try await server.run(.socket) { client in
            @Sendable func ask(
                _ token: String, from address: String, _ method: HTTPRequest.Method = .get,
                _ path: String = "/__admin/info"
            ) async throws -> TestAnswer {
                try await client.send(
                    method, path, headers: [.authorization: "Bearer \(token)", .forwardedFor: address])
            }
            /// Over a connection of its own, for such a request is held.
            @Sendable func askAnew(_ token: String) async throws -> Int {
                try await client.send(
                    .get, "/__admin/info", host: "localhost",
                    headers: [.authorization: "Bearer \(token)", .forwardedFor: "203.0.113.9"]
                ).status
            }
            for _ in 1...20 { #expect(try await ask("guess", from: "203.0.113.9").status == 401) }
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await askAnew("operator") }
                try await manual.waitFor(.failedLogin)
                for number in 2...8 { group.addTask { try await askAnew("guess \(number)") } }
                try await manual.waitFor(8, .failedLogin)
                for operation in try DocumentedOperation.all() where operation.path.hasPrefix("/__admin") {
                    let refused = try await ask("guess", from: "203.0.113.9", operation.method, operation.path)
                    #expect(refused.status == 429, "\(operation)")
                    #expect(try refused["code"] == "too_many_attempts")
                    #expect(refused.headers[.retryAfter] == "9")
                }
                #expect(
                    try await ask("operator", from: "198.51.100.7").status == 200, "another address is another matter")
                manual.advance(by: .seconds(1))
                #expect(try await group.next() == 200, "the right token waits for its turn, and is not refused")
                #expect(try await ask("operator", from: "203.0.113.9").status == 200, "it does not wait again")
                manual.advance(by: .seconds(7))
                for try await status in group { #expect(status == 401) }
            }
        }
    }

    @Test(
        "the operator API accepts only host names that no web page can have",
        arguments: [
            ("localhost", 200), ("LOCALHOST:8087", 200), ("127.0.0.1:8087", 200), ("[::1]:8087", 200),
            ("emulator:8087", 200), ("a.localhost", 200), ("192.168.1.7", 200), ("evil.example", 403),
            ("127.0.0.1.evil.example", 403), ("localhost.evil.example:8087", 403), ("api.eka.care", 403),
            ("[::1].evil.example", 403), ("localhost:80@evil.example", 403),
            ("1.2.3", 403), ("256.1.1.1", 403),
        ])
    func hosts(host: String, status: Int) async throws {
        try await TestServer().run(.socket) { client in
            guard case .socket(let socket, _) = client.door else { return }
            let answer = try await socket.answer(to: .init("/__admin/info", method: .get, authority: host))
            #expect(answer.status == status)
            #expect(answer.optional("code") == (status == 403 ? "foreign_host" : nil))
        }
    }

    @Test("the operator API refuses requests through a proxy without the operator token")
    func proxies() async throws {
        try await TestServer().run { client in
            for name in ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"] {
                let field = try #require(HTTPField.Name(name))
                let answer = try await client.get("/__admin/info", headers: [field: "203.0.113.7"])
                #expect(answer.status == 403, "\(name)")
                #expect(try answer["code"] == "forwarded")
            }
        }
        try await guarded().run { client in
            let field = try #require(HTTPField.Name("x-forwarded-for"))
            let answer = try await client.get("/__admin/info", headers: Self.operatorToken + [field: "203.0.113.7"])
            #expect(answer.status == 200)
        }
    }

    @Test("the operator API finds deliveries by session, registration and state, and replays them")
    func deliveries() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let hook = try await client.post(
                "/voice/v1/webhooks", #"{"url":"inbox","events":["session.started","session.ended"]}"#)
            let id = try hook["webhook_id"]
            let registered = try await client.get("/__admin/webhooks")
            #expect(try registered["webhooks.0.webhook_id"] == id)
            #expect(registered.text.contains(#""signed":false"#))
            _ = try await client.initialise("t-1")
            _ = try await client.initialise("t-2")
            #expect(try await client.delivered(2).count == 2)
            let one = try await client.get("/__admin/deliveries?session_id=t-1&webhook_id=\(id)&limit=1")
            #expect(try one["deliveries.0.event"] == "session.started")
            #expect(try one["deliveries.0.session_id"] == "t-1")
            let number = try one["deliveries.0.delivery_id"]
            #expect(try await client.get("/__admin/deliveries?before=\(number)").json["deliveries"] == .array([]))
            let read = try await client.get("/__admin/deliveries/\(number)")
            #expect(try read["state"] == "delivered")
            let replayed = try await client.send(.post, "/__admin/deliveries/\(number)/replay")
            #expect(replayed.status == 202)
            let all = try await client.post("/__admin/deliveries/replay", #"{"webhook_id":"\#(id)"}"#)
            #expect(all.status == 202)
            #expect(all.json["replayed"] == .integer(0))
            #expect(try await client.send(.post, "/__admin/deliveries/replay").status == 202)
        }
    }

    @Test("a pending delivery is not replayed, and a test delivery is marked as a test")
    func conflicts() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let hook = try await client.post(
                "/voice/v1/webhooks", #"{"url":"http://127.0.0.1:81/","events":["session.expired"]}"#)
            let test = try await client.send(.post, "/__admin/webhooks/\(try hook["webhook_id"])/test")
            #expect(test.status == 202)
            #expect(try test["event"] == "session.expired")
            #expect(try test["session_id"].hasPrefix("test-"))
            let other = try await client.post(
                "/notification/v1/connect/webhook/subscriptions",
                #"{"endpoint":"inbox","event_names":["appointment.created"]}"#)
            let nothing = try await client.send(.post, "/__admin/webhooks/\(try other["id"])/test")
            #expect(nothing.status == 409)
            try await manual.waitFor(.delivery)
            let replay = try await client.send(.post, "/__admin/deliveries/\(try test["delivery_id"])/replay")
            #expect(replay.status == 409)
            #expect(try replay["code"] == "invalid_state")
        }
    }

    @Test(
        "the operator API answers unknown paths and invalid queries or bodies with a problem document",
        arguments: [
            (HTTPRequest.Method.get, "/__admin/nothing", "", 404), (.get, "/__admin", "", 404),
            (.put, "/__admin/info", "", 405), (.get, "/__admin/deliveries/7", "", 404),
            (.get, "/__admin/deliveries/x", "", 404), (.post, "/__admin/deliveries/7/replay", "", 404),
            (.post, "/__admin/webhooks/7/test", "", 404), (.post, "/__admin/webhooks/x/test", "", 404),
            (.get, "/__admin/deliveries?state=gone", "", 400), (.get, "/__admin/deliveries?limit=0", "", 400),
            (.get, "/__admin/deliveries?limit=1001", "", 400), (.get, "/__admin/deliveries?before=-1", "", 400),
            (.get, "/__admin/deliveries?webhook_id=99999999999999999999", "", 400),
            (.post, "/__admin/deliveries/replay", "{", 400), (.post, "/__admin/deliveries/replay", "[]", 400),
            (.post, "/__admin/deliveries/replay", #"{"webhook_id":7}"#, 400),
            (.post, "/__admin/deliveries/replay", #"{"webhook_id":"x"}"#, 404),
        ])
    func problems(method: HTTPRequest.Method, path: String, body: String, status: Int) async throws {
        try await TestServer().run { client in
            let answer = try await client.send(method, path, body: Data(body.utf8))
            #expect(answer.status == status)
            #expect(answer.headers[.contentType] == "application/problem+json")
            #expect(answer.json["status"] == .integer(Int64(status)))
            #expect(try answer["title"].isEmpty == false)
        }
    }
}
