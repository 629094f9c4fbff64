import Engines
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Listen
@testable import ScribeHTTP

struct ListenRoutesTests {
    private static let upgrade: HTTPFields = [
        .connection: "Upgrade", .upgrade: "websocket", .secWebSocketVersion: "13",
        .secWebSocketKey: "dGhlIHNhbXBsZSBub25jZQ==", .authorization: "Token org_dev_key",
    ]

    @Test(
        "a Deepgram upgrade is accepted, or refused in Deepgram's envelope before the socket opens",
        arguments: ["/v1/listen", "/v1/listen/pcm"])
    func refusals(path: String) async throws {
        try await TestServer().run { client in
            let opened = try await client.get("\(path)?sample_rate=16000", headers: Self.upgrade)
            #expect(opened.status == 101)
            #expect(opened.headers[.secWebSocketAccept] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "RFC 6455's own example")
            #expect(opened.headers[.dgRequestID] != nil)

            let plain = try await client.get(path, headers: [.authorization: "Token org_dev_key"])
            #expect(plain.status == 426)
            let wrong = try await client.get("\(path)?channels=21", headers: Self.upgrade)
            #expect(wrong.status == 400)
            let message = try wrong["err_msg"]
            #expect(wrong.headers[.dgError] == message)
            #expect(message.contains("channels"))
        }
        var full = try TestServer()
        full.configuration.sockets.most = 0
        try await full.run { client in
            let refused = try await client.get(path, headers: Self.upgrade)
            #expect(refused.status == 429)
        }
    }

    @Test("a model that is none is 403 on a stream and for a recording, and the models are listed with their ids")
    func models() async throws {
        try await TestServer().run { client in
            let stream = try await client.get("/v1/listen?model=nova-30", headers: Self.upgrade)
            let recording = try await client.send(
                .post, "/v1/listen?model=nova-30", headers: [.authorization: "Token org_dev_key"], body: Data("x".utf8))
            for answer in [stream, recording] {
                #expect(answer.status == 403)
                #expect(try answer["err_msg"] == "Project does not have access to the requested model.")
            }
            let models = try await client.get("/v1/models")
            let first = try await client.get("/v1/models/\(try models["stt.0.uuid"])")
            #expect(try first["name"] == "nova-3")
        }
    }

    @Test("a login token opens live recognition like a key, and open mode needs neither")
    func tokens() async throws {
        try await TestServer().run { client in
            let login = try await client.login()
            var headers = Self.upgrade
            headers[.authorization] = login.headers[.authorization]
            let opened = try await client.get("/v1/listen", headers: headers)
            #expect(opened.status == 101)
        }
        var open = try TestServer()
        open.configuration.authMode = .open
        try await open.run { client in
            var headers = Self.upgrade
            headers[.authorization] = nil
            let opened = try await client.get("/v1/listen", headers: headers)
            #expect(opened.status == 101)
        }
    }

    @Test("a Deepgram key stands for its configured business, and strict mode refuses unknown keys")
    func strict() async throws {
        var server = try TestServer()
        server.configuration.authMode = .strict
        server.configuration.hasDemoSeed = true
        try await server.run { client in
            let opened = try await client.get("/v1/listen", headers: Self.upgrade)
            #expect(opened.status == 101)
            var headers = Self.upgrade
            headers[.authorization] = "Token org_other_key"
            let refused = try await client.get("/v1/listen", headers: headers)
            #expect(refused.status == 401)
        }
    }

    @Test("mu-law and A-law samples are decoded to linear samples")
    func companded() throws {
        for (encoding, loud) in [("mulaw", UInt8(0x80)), ("alaw", UInt8(0xAA))] {
            let query = try ListenQuery(
                ["encoding": encoding[...], "sample_rate": "8000"], at: .stream,
                of: ListenClientProfile(seesRefusals: false, isSubQ: false), speaksSubQ: false)
            var audio = ListenAudio(query)
            let samples = try audio.decode(ByteBuffer(repeating: loud, count: 12))
            let sample = samples?.getInteger(at: samples?.readerIndex ?? 0, endianness: .little, as: Int16.self)
            #expect(abs(Int(sample ?? 0)) > 31_000)
            let count = audio.duration * 8000
            #expect(count == 12)
        }
    }
}
