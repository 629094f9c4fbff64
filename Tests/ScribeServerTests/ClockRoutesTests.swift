import Basics
import Engines
import Foundation
import HTTPTypes
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// `/__admin/clock`: showing, setting and advancing.
struct ClockRoutesTests {
    private static let path = "/__admin/clock?namespace=a"

    @Test("a namespace's frozen clock stands until it is advanced, released or set", arguments: Transport.allCases)
    func modes(transport: Transport) async throws {
        let server = try TestServer()
        try await server.run(transport) { [manual = server.manual] client in
            _ = try await client.namespace("a")
            let put = { (body: String) in try await client.send(.put, Self.path, body: Data(body.utf8)) }
            #expect(try await client.get(Self.path)["mode"] == "system")
            let frozen = try await put(#"{"mode":"frozen","now":"2030-01-01T00:00:00Z"}"#)
            #expect(frozen.status == 200, "\(frozen.text)")
            manual.advance(by: .seconds(30))
            #expect(try await client.get(Self.path)["now"] == "2030-01-01T00:00:00.000Z")
            let later = try await client.post("/__admin/clock/advance?namespace=a", #"{"by":"90m"}"#)
            #expect(later.status == 200, "\(later.text)")
            #expect(try later["now"] == "2030-01-01T01:30:00.000Z")
            #expect(later.json["is_done"] == .bool(true))
            #expect(try await put(#"{"mode":"running"}"#)["mode"] == "moved")
            manual.advance(by: .seconds(60))
            #expect(try await client.get(Self.path)["now"] == "2030-01-01T01:31:00.000Z")
            #expect(
                try await put(#"{"mode":"moved","now":"1980-01-01T00:00:00.5Z"}"#)["now"] == "1980-01-01T00:00:00.500Z")
            #expect(try await client.get("/__admin/clock")["mode"] == "system", "of another namespace")
            #expect(try await client.post("/__admin/reset?namespace=a", "{}").status == 200)
            #expect(try await client.get(Self.path)["mode"] == "system", "after a reset")
        }
    }

    private struct StuckTranscriber: Transcriber {
        let name = "stuck"
        let clock: WallClock

        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
            try await clock.sleep(for: .seconds(3600), as: .fixture)
            return RecognisedSpeech(text: "late")
        }
    }

    @Test("while a call advances a clock, no other call moves it")
    func oneAtATime() async throws {
        var server = try TestServer()
        server.transcriber = StuckTranscriber(clock: server.manual.clock)
        try await server.run { [manual = server.manual] client in
            let made = try await client.namespace("a")
            try await client.login(made.client, made.secret).consultation("t", at: manual.now)
            async let advance = client.post("/__admin/clock/advance?namespace=a", #"{"by":"1h"}"#)
            try await manual.waitFor(.advance)
            let others = [
                try await client.send(.put, Self.path, body: Data(#"{"mode":"frozen"}"#.utf8)),
                try await client.post("/__admin/clock/advance?namespace=a", #"{"by":"1h"}"#),
                try await client.post("/__admin/reset?namespace=a", #"{"only":["clock","faults"]}"#),
            ]
            for other in others {
                #expect(other.status == 409)
                #expect(try other["code"] == "namespace_busy")
            }
            manual.advance(by: .seconds(31))
            let advanced = try await advance
            #expect(advanced.status == 200)
            #expect(advanced.json["is_done"] == .bool(false))
            #expect(try await client.send(.put, Self.path, body: Data(#"{"mode":"frozen"}"#.utf8)).status == 200)
        }
    }

    @Test("the clock of a data folder can be moved only if resets are allowed", arguments: [true, false])
    func folder(isAllowed: Bool) async throws {
        var server = try TestServer(onSQLite: true)
        server.configuration.allowsReset = isAllowed
        try await server.run { client in
            let answers = [
                try await client.send(.put, "/__admin/clock", body: Data(#"{"mode":"frozen"}"#.utf8)),
                try await client.post("/__admin/clock/advance", #"{"by":"1d"}"#),
            ]
            for answer in answers {
                #expect(answer.status == (isAllowed ? 200 : 409))
                if !isAllowed { #expect(try answer["code"] == "clock_not_allowed") }
            }
        }
    }

    @Test("an invalid call to the clock is refused and moves nothing", arguments: [HTTPRequest.Method.put, .post])
    func badCalls(method: HTTPRequest.Method) async throws {
        try await TestServer().run { client in
            _ = try await client.namespace("a")
            let path = method == .put ? Self.path : "/__admin/clock/advance?namespace=a"
            let cases: [(String, HTTPFields, Int)] = [
                ("{}", [.contentType: "text/plain"], 415), ("{}", [:], 400), (#"{"x":1}"#, [:], 400), ("[]", [:], 400),
                (#"{"mode":"moved","now":"2030-02-30T00:00:00Z"}"#, [:], 400),
                (#"{"to":"2030-01-01T25:00:00Z"}"#, [:], 400), (#"{"by":"-1s"}"#, [:], 400),
                (String(repeating: " ", count: 1 << 20 | 1), [:], 413),
            ]
            for (text, headers, status) in cases {
                let answer = try await client.send(method, path, headers: headers, body: Data(text.utf8))
                #expect(answer.status == status, "\(text.prefix(40))")
            }
            #expect(try await client.get(Self.path)["mode"] == "system")
        }
    }
}
