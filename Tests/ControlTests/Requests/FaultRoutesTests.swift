import Basics
import Foundation
import HTTPTypes
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP

/// `/__admin/faults`: rules, and what requests get by them.
struct FaultRoutesTests {
    private static let path = "/__admin/faults"

    @Test(
        "a fault rule fails requests until it is used up, and is listed with its counts", arguments: Transport.allCases)
    func rule(transport: Transport) async throws {
        try await TestServer().run(transport) { anonymous in
            let client = try await anonymous.login()
            let added = try await client.post(
                Self.path, #"{"operation":"initTransaction","status":503,"code":"down","times":1,"retry_after":7}"#)
            #expect(added.status == 201, "\(added.text)")
            #expect(try added["id"] == "fault-1")
            let failed = try await client.initialise("i-1")
            #expect(failed.status == 503)
            #expect(try failed["error.code"] == "down")
            #expect(failed.headers[.retryAfter] == "7")
            #expect(failed.headers[.scribeFaultApplied] == "fault-1")
            #expect(try await client.initialise("i-1").status == 201)
            let listed = try await client.get(Self.path)
            #expect(listed.text.contains(#""matched":1,"applied":1"#), "\(listed.text)")
            let changed = try await client.send(.patch, "\(Self.path)/fault-1", body: Data(#"{"times":1}"#.utf8))
            #expect(changed.status == 200)
            #expect(try await client.initialise("i-2").status == 503)
            _ = try await client.send(.patch, "\(Self.path)/fault-1", body: Data(#"{"times":9,"is_on":false}"#.utf8))
            #expect(try await client.initialise("i-2").status == 201)
            #expect(try await client.send(.delete, "\(Self.path)/fault-1").status == 204)
            #expect(try await client.send(.delete, "\(Self.path)/fault-1").status == 404)
            #expect(try await client.post("\(Self.path)/next", #"{"path":"/ping","status":500}"#).status == 201)
            #expect(try await client.send(.delete, Self.path).status == 204)
            #expect(try await client.get(Self.path).text == #"{"faults":[],"max":100}"#)
        }
    }

    @Test(
        "a fault before an operation prevents its write, and a fault after an operation does not",
        arguments: ["before", "after"])
    func moments(moment: String) async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            let rule = #"{"operation":"initTransaction","status":500,"when":"\#(moment)"}"#
            #expect(try await client.post("\(Self.path)/next", rule).status == 201)
            #expect(try await client.initialise("i-1").status == 500)
            let stored = try await client.get("/__admin/transactions/i-1")
            #expect(stored.status == (moment == "before" ? 404 : 200))
        }
    }

    @Test(
        "a request that a fault holds is released when its world ends, whatever clock it waits for",
        arguments: [#""delay":"1h""#, #""delay":"1h","clock":"world""#, #""delay":"1h","when":"after""#])
    func held(effect: String) async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] anonymous in
            let made = try await anonymous.namespace("a")
            let client = try await anonymous.login(made.client, made.secret)
            let rule = #"{"operation":"readConfig",\#(effect)}"#
            #expect(try await client.post("\(Self.path)?namespace=a", rule).status == 201)
            async let held = client.get("/voice/api/v2/config")
            try await manual.waitFor(.fault)
            #expect(try await client.post("/__admin/reset?namespace=a", "{}").status == 200)
            #expect(try await held.status == 200, "it is answered by the world that it came to")
        }
    }

    @Test("a rule about answers passes the sockets by, and is not used up by them")
    func passesSockets() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let rule = #"{"path":"/v1/*","status":500,"when":"after","times":1}"#
            #expect(try await client.post(Self.path, rule).status == 201)
            let token = try #require(client.headers[.authorization])
            let code = try await TestSocket.open(
                "/v1/listen?encoding=linear16&sample_rate=16000", port: try #require(client.port),
                [("authorization", token)]
            ) { socket in
                try await socket.send(#"{"type":"CloseStream"}"#)
                return try await socket.end().code
            }
            #expect(code == 1000)
            #expect(try await client.get(Self.path).text.contains(#""matched":0,"applied":0"#))
        }
    }

    @Test("each family renders a fault's error in its own format")
    func families() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            #expect(try await client.post(Self.path, #"{"path":"*","status":503,"code":"SlowDown"}"#).status == 201)
            let object = try await client.send(.put, "/bucket/key", body: Data("x".utf8))
            #expect(object.status == 503)
            #expect(object.text.contains("<Code>SlowDown</Code>"))
            for path in ["/voice/v1/sessions", "/v1/conversations", "/api/v1/ambient/session/create", "/v1/listen"] {
                let answer = try await client.post(path, "{}")
                #expect(answer.status == 503, "\(path)")
                #expect(answer.headers[.scribeFaultApplied] == "fault-1")
            }
            #expect(try await client.get("/livez").status == 200, "no emulated API")
        }
    }

    @Test("a rate limit counts each client alone, and answers 429 with the time to wait")
    func limit() async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] anonymous in
            let (client, other) = (
                try await anonymous.login(), try await anonymous.login("dev-client-2", "dev-secret-2")
            )
            #expect(try await anonymous.post(Self.path, #"{"path":"/voice/*","limit":"2/1m"}"#).status == 201)
            let get = { (client: TestScribeClient) in try await client.get("/voice/api/v2/config").status }
            #expect(try await [get(client), get(client), get(client), get(other)] == [200, 200, 429, 200])
            let refused = try await client.get("/voice/api/v2/config")
            #expect(refused.headers[.retryAfter] == "30")
            manual.advance(by: .seconds(30))
            #expect(try await [get(client), get(client)] == [200, 429])
        }
    }

    @Test("a fault's delay by the namespace's clock ends when that clock is advanced")
    func worldClock() async throws {
        let server = try TestServer()
        try await server.run { [manual = server.manual] anonymous in
            let made = try await anonymous.namespace("a")
            _ = made
            _ = try await anonymous.send(.put, "/__admin/clock?namespace=a", body: Data(#"{"mode":"frozen"}"#.utf8))
            let rule = #"{"path":"/ns-free","delay":"1h","clock":"world"}"#
            #expect(try await anonymous.post("\(Self.path)?namespace=a", rule).status == 201)
            async let held = anonymous.get("/ns/a/ns-free")
            while try await !anonymous.get("/__admin/clock?namespace=a").text.contains(#""what":"fault""#) {
                await Task.yield()
            }
            manual.advance(by: .seconds(7200))
            #expect(try await anonymous.post("/__admin/clock/advance?namespace=a", #"{"by":"1h"}"#).status == 200)
            #expect(try await held.headers[.scribeFaultApplied] == "fault-1")
        }
    }

    @Test(
        "a reset ends a fault's delay, and the request is answered without an error in the log",
        arguments: ["before", "after"])
    func reset(moment: String) async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.isEphemeral = true
        let log = LogLines()
        server.log = log
        try await server.run { [manual = server.manual] anonymous in
            let client = try await anonymous.login()
            let rule = #"{"operation":"initTransaction","delay":"1h","when":"\#(moment)"}"#
            #expect(try await anonymous.post(Self.path, rule).status == 201)
            async let held = client.initialise("i-1")
            try await manual.waitFor(.fault)
            #expect(try await anonymous.post("/__admin/reset", "{}").status == 200)
            #expect(try await held.status == 201)
            #expect(try await client.get("/voice/api/v2/transaction/i-1").status == 404)
        }
        #expect(log.all.allSatisfy { "\($0.level)" != "error" }, "\(log.all)")
    }

    @Test(
        "a request's X-Scribe-Fault header causes a fault only if the server allows the header",
        arguments: [true, false])
    func header(isAllowed: Bool) async throws {
        var server = try TestServer()
        server.configuration.readsFaultHeader = isAllowed
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let answer = try await client.get("/voice/api/v2/config", headers: [.scribeFault: "status=418; code=tea"])
            #expect(answer.status == (isAllowed ? 418 : 200))
            let wrong = try await client.get("/voice/api/v2/config", headers: [.scribeFault: "statsu=418"])
            #expect(wrong.status == (isAllowed ? 400 : 200))
            if isAllowed { #expect(wrong.text.contains("status")) }
        }
    }

    @Test("an invalid fault rule is refused and adds nothing", arguments: ["", "/next"])
    func wrong(path: String) async throws {
        try await TestServer().run { client in
            let cases: [(String, HTTPFields, Int)] = [
                ("{}", [.contentType: "text/plain"], 415), ("", [:], 400), ("{}", [:], 400), ("[]", [:], 400),
                (#"{"operation":"initTransacton","status":500}"#, [:], 400),
                (#"{"client":"nobody","status":500}"#, [:], 400),
                (String(repeating: " ", count: 1 << 20 | 1), [:], 413),
            ]
            for (text, headers, status) in cases {
                let answer = try await client.post(Self.path + path, text, headers: headers)
                #expect(answer.status == status, "\(text.prefix(40))")
            }
            #expect(try await client.get(Self.path).text.contains(#""faults":[]"#))
            let rule = #"{"id":"a","status":500,"path":"/a","times":3}"#
            #expect(try await client.post(Self.path + path, rule).status == 201)
            #expect(try await client.post(Self.path + path, rule)["code"] == "fault_exists")
            #expect(try await client.post(Self.path, #"{"id":"b","status":500,"path":"/a"}"#).status == 201)
            #expect(try await client.post(Self.path, #"{"status":400,"path":"/a"}"#)["code"] == "fault_hidden")
            for (text, status) in [("{}", 404), (#"{"times":0}"#, 400), (#"{"is_on":1}"#, 400)] {
                #expect(
                    try await client.send(.patch, "\(Self.path)/none", body: Data(text.utf8)).status == status)
            }
            let text = try await client.send(
                .patch, "\(Self.path)/a", headers: [.contentType: "text/plain"], body: Data("{}".utf8))
            #expect(text.status == 415)
            let long = Data(repeating: UInt8(ascii: " "), count: 1 << 20 | 1)
            #expect(try await client.send(.patch, "\(Self.path)/a", body: long).status == 413)
        }
    }

    @Test("a reset of chosen parts keeps the data of the namespace")
    func resetOfParts() async throws {
        try await TestServer().run { anonymous in
            let made = try await anonymous.namespace("a")
            let (client, query) = (try await anonymous.login(made.client, made.secret), "?namespace=a")
            _ = try await client.initialise("i-1")
            _ = try await client.post("\(Self.path)\(query)", #"{"status":500}"#)
            _ = try await client.send(.put, "/__admin/fixtures/f\(query)", body: Data(#"{"text":"x"}"#.utf8))
            _ = try await client.send(.put, "/__admin/clock\(query)", body: Data(#"{"mode":"frozen"}"#.utf8))
            func reset(_ body: String) async throws -> TestAnswer {
                try await client.post("/__admin/reset\(query)", body)
            }
            for wrong in [#"{"only":[]}"#, #"{"only":["fault"]}"#, #"{"only":"data"}"#, #"{"only":[1]}"#] {
                #expect(try await reset(wrong).status == 400)
            }
            #expect(try await client.initialise("i-2").status == 500)
            let answer = try await reset(#"{"only":["faults","fixtures","clock"]}"#)
            #expect(answer.text == #"{"namespace":"a","state":1}"#)
            #expect(try await client.initialise("i-2").status == 201)
            #expect(try await client.get("/__admin/fixtures\(query)").text.contains(#""fixtures":[]"#))
            #expect(try await client.get("/__admin/clock\(query)")["mode"] == "system")
            #expect(try await client.get("/__admin/transactions/i-1\(query)").status == 200)
            #expect(try await reset(#"{"only":["data"]}"#).text == #"{"namespace":"a","state":2}"#)
            #expect(try await client.get("/__admin/transactions/i-1\(query)").status == 404)
        }
    }

    @Test("the operator API triggers an event for the registrations that subscribe to it")
    func trigger() async throws {
        try await TestServer().run { anonymous in
            let client = try await anonymous.login()
            _ = try await client.post("/voice/v1/webhooks", #"{"url":"inbox","events":["session.ended"]}"#)
            let path = "/__admin/webhooks/trigger"
            let sent = try await client.post(path, #"{"event":"session.ended","transaction":"i-9"}"#)
            #expect(sent.status == 202, "\(sent.text)")
            let delivery = try #require(try await client.delivered(1).first)
            #expect(delivery["session_id"] == .string("i-9"))
            #expect(try await client.post(path, #"{"event":"completed"}"#).text == #"{"delivery_ids":[]}"#)
            let unknown = try await client.post(path, #"{"event":"session.endet"}"#)
            #expect(unknown.status == 400)
            #expect(unknown.text.contains("session.ended"))
            for (text, type, status) in [
                ("{}", "application/json", 400), (#"{"event":1}"#, "application/json", 400), ("{}", "text/plain", 415),
                (String(repeating: " ", count: 1 << 20 | 1), "application/json", 413),
            ] {
                #expect(try await client.post(path, text, headers: [.contentType: type]).status == status)
            }
        }
    }
}
