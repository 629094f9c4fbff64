import Basics
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer
@testable import Suki

struct AmbientSocketTests {
    static let upgrade: HTTPFields = [
        .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
        .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// Not silent, for nobody is heard in silence.
    static let second = Data((0..<32_000).map { UInt8(truncatingIfNeeded: $0 / 2 % 64) })

    static func start(_ time: String = "2026-05-10T09:12:33.123456789Z") -> String {
        #"{"type":"START_TIME","data":"\#(Data(time.utf8).base64EncodedString())"}"#
    }

    static func audio(_ samples: Data = second) -> String {
        #"{"type":"AUDIO","data":"\#(samples.base64EncodedString())"}"#
    }

    static func event(_ name: String, in member: String = "event") -> String {
        #"{"type":"EVENT","\#(member)":"\#(name)"}"#
    }

    static let endMarker = #"{"type":"AUDIO","data":"RU9G"}"#

    func open<Value: Sendable>(
        _ client: TestScribeClient, _ id: String, _ body: @escaping @Sendable (TestSocket) async throws -> Value
    ) async throws -> Value {
        let token = try #require(client.headers[.sukiToken])
        return try await TestSocket.open(
            "/ws/stream", port: try #require(client.port), [("sdp_suki_token", token), ("ambient_session_id", id)], body
        )
    }

    @Test(
        "the ambient socket checks token and session before the upgrade, from headers or subprotocols", .covers("U-14"))
    func handshake() async throws {
        let server = try TestServer.ambient()
        try await server.run { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            func shake(_ client: TestScribeClient, session: String?, protocols: String? = nil) async throws
                -> TestAnswer
            {
                var headers = Self.upgrade
                headers[.ambientSession] = session
                headers[.secWebSocketProtocol] = protocols
                return try await client.get("/ws/stream", headers: headers)
            }
            #expect(try await client.get("/ws/stream").status == 426)
            let refusals: [(TestScribeClient, String?, Int, String)] = [
                (client, nil, 400, "invalid_request"), (client, "x", 404, "ambient_session_not_found"),
                (client, UUID().uuidString, 404, "ambient_session_not_found"),
                (anonymous, id, 401, "invalid_sdp_token"),
                (try await anonymous.clinician("dr-other"), id, 404, "ambient_session_not_found"),
            ]
            for (client, session, status, error) in refusals {
                let answer = try await shake(client, session: session)
                #expect(answer.status == status)
                #expect(answer.errorID == error)
            }
            #expect(try await client.ambientStatus(id) == "created")
            let token = try #require(client.headers[.sukiToken])
            let ways = [
                "SukiAmbientAuth,\(id),\(token)", "SukiAmbientAuth, \(id), \(token)", "SukiAmbientAuth \(id) \(token)",
            ]
            for protocols in ways {
                let answer = try await shake(anonymous, session: nil, protocols: protocols)
                #expect(answer.status == 101)
                #expect(answer.headers[values: .secWebSocketProtocol] == ["SukiAmbientAuth"])
            }
            #expect(try await shake(anonymous, session: nil, protocols: "SukiAmbientAuth").status == 401)
            let plain = try await shake(client, session: id)
            #expect(plain.status == 101)
            #expect(plain.headers[.secWebSocketProtocol] == nil)
            let listed = try await anonymous.get("/__admin/requests?transaction=\(id.lowercased())")
            let sockets = listed.json["requests"]?.arrayValue?.count { $0["path"] == .string("/ws/stream") }
            #expect(sockets == 4, "three by subprotocols and one by headers: \(listed.text)")
            #expect(try await client.ambientStatus(id) == "ready")
            _ = try await client.finishAmbient(id)
            #expect(try await shake(client, session: id).errorID == "ambient_session_already_ended")
        }
        var full = try TestServer.ambient()
        full.configuration.sockets.most = 0
        try await full.run { anonymous in
            let client = try await anonymous.clinician()
            var headers = Self.upgrade
            headers[.ambientSession] = try await client.ambientSession()
            #expect(try await client.get("/ws/stream", headers: headers).status == 503)
        }
    }

    @Test("an ambient session that streams to its end marker is running, and after its end completed", .covers("U-15"))
    func stream() async throws {
        try await TestServer.ambient().run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let end = try await open(client, id) { socket in
                try await socket.send(Self.start())
                for _ in 0..<45 { try await socket.send(Self.audio()) }
                try await socket.send(Self.endMarker)
                return try await socket.end()
            }
            #expect(end.texts == [])
            #expect(end.code == 1000)
            #expect(try await client.ambientStatus(id) == "running")
            #expect(try await client.finishAmbient(id) == "completed")
            let path =
                try "/"
                + (try await client.ambient(id, "recording"))["recordings.0.presigned_url"]
                .split(separator: "/").dropFirst(2).joined(separator: "/")
            #expect(try await client.get(path).body.count == 44 + 45 * 32_000)
        }
    }

    @Test(
        "an invalid message closes the ambient socket with a reason, and earlier audio is kept", .covers("U-16"),
        arguments: [
            (Optional("no JSON"), UInt16(1007)), ("[]", 1007), (nil, 1003), (#"{"type":"NOISE"}"#, 1007),
            (#"{}"#, 1007),
            (#"{"type":7}"#, 1007), (#"{"type":"AUDIO","data":"%%"}"#, 1007), (#"{"type":"AUDIO"}"#, 1007),
            (#"{"type":"AUDIO","data":"AAAA"}"#, 1007), (#"{"type":"START_TIME","data":"eA=="}"#, 1007),
            (#"{"type":"EVENT","event":"DANCE"}"#, 1007), (#"{"type":"EVENT"}"#, 1007),
        ])
    func nonsense(text: String?, code: UInt16) async throws {
        try await TestServer.ambient().run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let end = try await open(client, id) { socket in
                try await socket.send(Self.start())
                try await socket.send(Self.audio())
                if let text { try await socket.send(text) } else { try await socket.send(opcode: 2, Self.second) }
                return try await socket.end()
            }
            #expect(end.code == code)
            #expect(end.texts.count == 1)
            let error = try JSONDocument(Data(end.texts[0].utf8)).value
            #expect(error["code"] == .integer(400))
            #expect(error["message"]?.stringValue?.hasPrefix("invalid_request: ") == true)
            #expect(try await client.finishAmbient(id) == "completed")
        }
    }

    @Test("audio before a START_TIME closes the ambient socket", .covers("U-16"))
    func noStart() async throws {
        try await TestServer.ambient().run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let end = try await open(client, id) { socket in
                try await socket.send(Self.audio())
                return try await socket.end()
            }
            #expect(end.code == 1008)
            #expect(try await client.ambientStatus(id) == "ready")
        }
    }

    @Test(
        "keep-alive messages hold a paused ambient socket for half an hour, and 25 s of silence close it",
        .covers("U-17"))
    func timers() async throws {
        let server = try TestServer.ambient()
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let paused = try await open(try await anonymous.clinician(), id) { socket in
                try await socket.send(Self.start())
                try await socket.send(Self.audio())
                try await socket.send(Self.event("PAUSE", in: "data"))
                try await socket.settle()
                // Above all of it is longer than silence may last.
                for _ in 0..<89 {
                    manual.advance(by: .seconds(20))
                    try await socket.send(Self.event("KEEP_ALIVE"))
                    try await socket.settle()
                }
                manual.advance(by: .seconds(20))
                try await socket.send(Self.event("KEEP_ALIVE"))
                return try await socket.end()
            }
            #expect(paused.code == 1001)
            let resumed = try await open(try await anonymous.clinician(), id) { socket in
                try await socket.send(Self.event("PAUSE"))
                try await socket.settle()
                for _ in 0..<80 {
                    manual.advance(by: .seconds(20))
                    try await socket.send(Self.event("KEEP_ALIVE"))
                    try await socket.settle()
                }
                try await socket.send(Self.event("RESUME"))
                for _ in 0..<80 {
                    manual.advance(by: .seconds(20))
                    try await socket.send(Self.event("KEEP_ALIVE"))
                    try await socket.settle()
                }
                try await socket.send(Self.endMarker)
                return try await socket.end()
            }
            #expect(resumed.code == 1000)
            let silent = try await open(try await anonymous.clinician(), id) { socket in
                try await socket.send(Self.event("PAUSE"))
                try await socket.settle()
                try await manual.waitFor(.socketIdle)
                manual.advance(by: .seconds(26))
                // It looks again when the last message was heard.
                try await manual.waitFor(.socketIdle)
                manual.advance(by: .seconds(1))
                return try await socket.end()
            }
            #expect(silent.code == 1001)
            let empty = try await open(try await anonymous.clinician(), id) { socket in
                try await socket.send(Self.start())
                try await socket.settle()
                try await manual.waitFor(.socketIdle)
                manual.advance(by: .seconds(20))
                try await socket.send(#"{"type":"AUDIO","data":""}"#)
                try await socket.settle()
                manual.advance(by: .seconds(6))
                try await manual.waitFor(.socketIdle)
                manual.advance(by: .seconds(1))
                return try await socket.end()
            }
            #expect(empty.code == 1001)
            // The session goes on.
            #expect(try await anonymous.clinician().finishAmbient(id) == "completed")
        }
    }

    @Test("CANCEL cancels the ambient session, and ABORT only drops the stream", .covers("U-18", "U-19"))
    func events() async throws {
        try await TestServer.ambient().run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            func send(_ messages: [String], to id: String) async throws -> UInt16? {
                try await open(client, id) { socket in
                    for message in messages { try await socket.send(message) }
                    return try await socket.end().code
                }
            }
            let given = try await client.ambientSession()
            #expect(try await send([Self.start(), Self.audio(), Self.event("CANCEL")], to: given) == 1000)
            #expect(try await client.ambientStatus(given) == "aborted")
            #expect(try await client.ambient(given, "content").status == 412)
            let kept = try await client.ambientSession()
            #expect(try await send([Self.start(), Self.audio(), Self.event("ABORT")], to: kept) == 1000)
            #expect(try await client.ambientStatus(kept) == "running")
            let again = [Self.start("2026-05-10T09:20:00Z"), Self.audio(), Self.event("EOF", in: "data")]
            #expect(try await send(again, to: kept) == 1000)
            #expect(try await client.finishAmbient(kept) == "completed")
            guard case .array(let recordings)? = try await client.ambient(kept, "recording").json["recordings"] else {
                throw ScribeError.resultNotFound
            }
            #expect(recordings.count == 2)
        }
    }
}
