import Basics
import Connections
import Engines
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import ServerTestSupport
import TestSupport
import Testing

@testable import Alliance
@testable import ScribeHTTP
@testable import ScribeServer

struct StreamTests {
    private static let upgrade: HTTPFields = [
        .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
        .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==",
    ]

    /// The path of a session's stream.
    private func path(_ client: TestScribeClient) async throws -> (path: String, session: String) {
        let created = try await client.post(TestScribeClient.sessions, #"{"upload_type":"stream"}"#)
        let url = try created["upload_url"]
        let path = try #require(url.range(of: "/voice/v1/stream")).lowerBound
        return (String(url[path...]), try created["session_id"])
    }

    @Test("the stream link opens its socket without a token, and a changed link is refused", .covers("M-57", "M-58"))
    func link() async throws {
        let server = try TestServer()
        let manual = server.manual
        try await server.run { anonymous in
            let client = try await anonymous.login()
            let (path, session) = try await path(client)
            #expect(try await anonymous.get(path, headers: Self.upgrade).status == 101)
            #expect(try await anonymous.get(path).status == 426)
            var other = path
            other.insert("x", at: other.index(other.startIndex, offsetBy: 40))
            for wrong in [other, "/voice/v1/stream/sessions/\(session)/audio", "/voice/v1/stream/sessions/a.b/audio"] {
                let answer = try await anonymous.get(wrong, headers: Self.upgrade)
                #expect(answer.status == 403)
                #expect(try answer["error.code"] == "forbidden")
            }
            _ = try await client.end(session)
            #expect(try await anonymous.get(path, headers: Self.upgrade).status == 400)
            let second = try await self.path(client)
            manual.advance(by: .seconds(3600))
            let late = try await anonymous.get(second.path, headers: Self.upgrade)
            #expect(late.status == 410)
        }
        var full = try TestServer()
        full.configuration.sockets.most = 0
        try await full.run { anonymous in
            let client = try await anonymous.login()
            let path = try await path(client).path
            #expect(try await anonymous.get(path, headers: Self.upgrade).status == 503)
        }
    }

    private func samples(_ messages: [WebSocketMessage]) async throws -> (bytes: [UInt8], rate: Int, isStopped: Bool) {
        var audio = StreamAudio()
        var bytes: [UInt8] = []
        for message in messages {
            if let buffer = try await audio.samples(in: message) { bytes += buffer.readableBytesView }
        }
        return (bytes, audio.options.sampleRate, audio.isStopped)
    }

    @Test(
        "a stream socket reads samples from binary frames and from JSON envelopes, in pieces of any length",
        .covers("M-60"))
    func formats() async throws {
        let plain = try await samples([
            .binary(ByteBuffer(bytes: [1, 2, 3])), .binary(ByteBuffer(bytes: [4])), .text(#"{"event":"stop"}"#),
        ])
        #expect(plain.bytes == [1, 2, 3, 4])
        #expect(plain.isStopped)
        let wrapped = try await samples([
            .text(#"{"event":"connected","protocol":"Call"}"#),
            .text(
                #"{"event":"start","start":{"streamId":"s","mediaFormat":{"encoding":"audio/L16;rate=8000","sampleRate":"8000"}}}"#
            ),
            .text(#"{"event":"media","media":{"payload":"AQID"}}"#), .text(#"{"event":"mark","media":"other"}"#),
            .text(#"{"event":7}"#), .text(#"{"foo":1}"#),
            .text(#"{"event":"media","media":{"payload":"BA=="}}"#), .text(#"{"event":"stop","reason":"done"}"#),
        ])
        #expect(wrapped.bytes == [1, 2, 3, 4])
        #expect(wrapped.rate == 8000)
        let bare = try await samples([.text(#"{"event":"media","media":{"payload":"AQI="}}"#)])
        #expect(bare.bytes == [1, 2])
    }

    @Test(
        "a stream message without valid audio closes the socket with the code of the error",
        arguments: [
            ("no JSON", 1007), ("[]", 1007),
            (#"{"event":"media","media":{"payload":"%%"}}"#, 1007), (#"{"event":"media"}"#, 1007),
            (#"{"event":"start","start":{"mediaFormat":{"encoding":"audio/x-mulaw"}}}"#, 1003),
            (#"{"event":"start","start":{"mediaFormat":{"sampleRate":1}}}"#, 1003),
            (#"{"event":"start","start":{"mediaFormat":{"sampleRate":-9223372036854775808}}}"#, 1003),
        ])
    func refusals(text: String, code: UInt16) async {
        var audio = StreamAudio()
        let closure = await #expect(throws: WebSocketClosure.self) { try await audio.samples(in: .text(text)) }
        #expect(closure?.code == code)
    }
}
