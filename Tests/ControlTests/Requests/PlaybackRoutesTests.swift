import Basics
import Foundation
import HTTPTypes
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP

/// `/__admin/playbacks` and recordings: sockets of the journal, played to the next client of their route.
struct PlaybackRoutesTests {
    private static let path = "/__admin/playbacks"
    private static let listen = "/v1/listen?encoding=linear16&sample_rate=16000"
    private static let head = #"{"scribe_recording":1,"operation":"openListenSocket","path":"/v1/listen"}"#

    private func add(
        _ lines: [String], _ query: String = "", to client: TestScribeClient
    ) async throws -> TestAnswer {
        try await client.send(
            .post, Self.path + query, headers: [.contentType: SocketRecording.contentType],
            body: Data(lines.joined(separator: "\n").utf8))
    }

    /// Opens a socket and sends some frames.
    private func visit(
        _ client: TestScribeClient, _ send: @escaping @Sendable (TestSocket) async throws -> Void
    ) async throws -> (texts: [String], code: UInt16?) {
        let token = try #require(client.headers[.authorization])
        return try await TestSocket.open(Self.listen, port: try #require(client.port), [("authorization", token)]) {
            socket in
            try await send(socket)
            return try await socket.end()
        }
    }

    @Test("a socket is recorded, and playback answers the next socket with that recording")
    func record() async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let real = try await visit(client) { socket in
                try await socket.send(opcode: 2, Data(repeating: 0, count: 3200))
                try await socket.send(#"{"type":"CloseStream"}"#)
            }
            #expect(real.code == 1000)
            let ended = try await client.post("/__admin/requests/wait", #"{"kind":"socket"}"#)
            #expect(ended.status == 200, "\(ended.text)")
            guard case .array(let matched)? = ended.json["matched"], case .integer(let id)? = matched.first else {
                throw Missing()
            }
            let recording = try await client.get("/__admin/requests/\(id)/recording")
            #expect(recording.status == 200, "\(recording.text)")
            #expect(recording.text.contains("words and names"))
            #expect(recording.text.contains(#""binary":{"size":3200,"sha256":""#))
            let played = try await client.send(
                .post, Self.path + "?fast=true&match=true&times=2",
                headers: [.contentType: SocketRecording.contentType], body: recording.body)
            #expect(played.status == 201, "\(played.text)")
            let again = try await visit(client) { socket in
                try await socket.send(opcode: 2, Data(repeating: 0, count: 3200))
                try await socket.send(#"{"type":"CloseStream"}"#)
            }
            #expect(again.texts == real.texts)
            #expect(again.code == real.code)
            let other = try await visit(client) { socket in try await socket.send(#"{"type":"Finalize"}"#) }
            #expect(other.code == 1008)
            let list = try await client.get("/__admin/requests?kind=socket")
            #expect(try list["requests.2.playback"] == "playback-1")
            #expect(try list["requests.2.reason"].contains("expected 3200 bytes of audio, found text"), "\(list.text)")
            let live = try await visit(client) { socket in try await socket.send(#"{"type":"CloseStream"}"#) }
            #expect(live.code == 1000)
            #expect(try await client.get("/__admin/requests/1/recording").status == 409)
        }
    }

    private struct Missing: Error {}

    @Test("playback sends the recorded frames at their recorded times whatever the client sends")
    func times() async throws {
        let server = try TestServer()
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.login()
            let added = try await add(
                [
                    Self.head, #"{"ms":0,"from":"server","text":"one"}"#, #"{"ms":500,"from":"client","text":"x"}"#,
                    #"{"ms":5000,"from":"server","text":"two"}"#, #"{"ms":5000,"from":"server","close":4000}"#,
                ], to: client)
            #expect(added.status == 201, "\(added.text)")
            let heard = try await visit(client) { socket in
                try await socket.send("anything")
                try await server.manual.waitFor(.fault)
                server.manual.advance(by: .seconds(5))
            }
            #expect(heard.texts == ["one", "two"])
            #expect(heard.code == 4000)
            let list = try await client.get(Self.path)
            #expect(list.text.contains(#""left":0,"played":1"#))
        }
    }

    @Test("a page's socket plays a recording only to a valid token", arguments: [true, false])
    func page(mustMatch: Bool) async throws {
        try await TestServer().run(.socket) { anonymous in
            let client = try await anonymous.login()
            let token = try #require(client.headers[.authorization]).dropFirst("Bearer ".count)
            let added = try await add(
                [
                    #"{"scribe_recording":1,"path":"/v4/web/listen"}"#,
                    #"{"ms":0,"from":"client","text":"{\"type\":\"auth\",\"token\":\"***\"}"}"#,
                    #"{"ms":0,"from":"server","text":"recorded"}"#, #"{"ms":0,"from":"client","text":"go"}"#,
                    #"{"ms":0,"from":"server","close":4000}"#,
                ], "?fast=true&match=\(mustMatch)", to: client)
            #expect(added.status == 201, "\(added.text)")
            func visit(_ messages: [String]) async throws -> (texts: [String], code: UInt16?) {
                try await TestSocket.open("/v4/web/listen", port: try #require(client.port), []) { socket in
                    for message in messages { try await socket.send(message) }
                    return try await socket.end()
                }
            }
            for message in [#"{"type":"auth","token":"x"}"#, #"{"type":"auth"}"#, "go"] {
                let refused = try await visit([message])
                #expect(refused.texts == [#"{"type":"auth_response","success":false}"#])
                #expect(refused.code == 1008)
            }
            #expect(try await client.get(Self.path).text.contains(#""left":1,"played":0"#))
            let login = #"{"type":"auth","token":"\#(token)"}"#
            let played = try await visit(mustMatch ? [login, "go"] : [login])
            #expect(played.texts == ["recorded"])
            #expect(played.code == 4000)
        }
    }

    @Test("socket recordings are listed, removed and limited in number")
    func list() async throws {
        try await TestServer().run { client in
            for _ in 1...10 {
                let added = try await add([Self.head], to: client)
                #expect(added.status == 201)
            }
            #expect(try await add([Self.head], to: client).status == 409)
            #expect(try await client.send(.delete, Self.path + "/playback-3").status == 204)
            #expect(try await client.send(.delete, Self.path + "/playback-3").status == 404)
            #expect(try await client.send(.delete, Self.path).status == 204)
            #expect(try await client.get(Self.path).text == #"{"playbacks":[],"max":10}"#)
            #expect(try await add([Self.head], to: client).status == 201)
            #expect(try await client.post("/__admin/reset", #"{"only":["fixtures"]}"#).status == 200)
            #expect(try await client.get(Self.path).text.contains(#""playbacks":[]"#))
        }
    }

    @Test(
        "an invalid socket recording is refused with the number of the wrong line",
        arguments: [
            ([""], "line 1"), (["word"], "line 1"), ([#"{"path":"/a"}"#], "line 1"),
            ([#"{"scribe_recording":1,"operation":"listen","path":"/a"}"#], "nearest"), ([head, "{}"], "line 2"),
            ([head, #"{"ms":-1,"from":"client","text":"a"}"#], "line 2"),
            ([head, #"{"ms":1,"from":"nobody","text":"a"}"#], "line 2"),
            ([head, #"{"ms":1,"from":"server"}"#], "line 2"),
            ([head, #"{"ms":1,"from":"server","close":99}"#], "line 2"),
            ([head, #"{"ms":1,"from":"server","close":1006}"#], "line 2"),
            ([head, #"{"ms":1,"from":"server","binary":{"size":1,"sha256":"a"}}"#], "line 2"),
            ([head, #"{"ms":2,"from":"server","text":"a"}"#, #"{"ms":1,"from":"server","text":"a"}"#], "line 3"),
            ([head, String(repeating: "[", count: 500)], "line 2"),
        ])
    func refused(lines: [String], line: String) async throws {
        try await TestServer().run { client in
            let answer = try await add(lines, to: client)
            #expect(answer.status == 400)
            #expect(try answer["detail"].contains(line), "\(answer.text)")
        }
    }

    @Test("adding a socket recording is refused for a wrong type, a wrong query or too many bytes")
    func refusedCalls() async throws {
        try await TestServer().run { client in
            let json = try await client.post(Self.path, "{}")
            #expect(json.status == 415)
            #expect(try json["code"] == "not_recording")
            for query in ["?fast=maybe", "?times=0", "?speed=2"] {
                #expect(try await add([Self.head], query, to: client).status == 400)
            }
            let long = String(repeating: " ", count: SocketRecording.sizeLimit + 1)
            #expect(try await add([Self.head, long], to: client).status == 413)
        }
    }
}
