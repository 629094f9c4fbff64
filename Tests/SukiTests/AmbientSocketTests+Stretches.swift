import Basics
import Foundation
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeHTTP
@testable import ScribeServer
@testable import Suki

/// Stretches of audio: of one socket and of several.
extension AmbientSocketTests {
    /// The length of each stretch of a session that has ended, in seconds of 16-bit samples at 16 kHz.
    private func secondsRecorded(_ client: TestScribeClient, _ id: String) async throws -> [Int] {
        guard case .array(let recordings)? = try await client.ambient(id, "recording").json["recordings"] else {
            throw ScribeError.resultNotFound
        }
        var seconds: [Int] = []
        for recording in recordings {
            let url = try #require(recording["presigned_url"]?.stringValue)
            let path = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
            seconds.append((try await client.get(path).body.count - 44) / 32_000)
        }
        return seconds
    }

    @Test("a second START_TIME on an open ambient socket begins another stretch", .covers("U-38"))
    func secondStart() async throws {
        try await TestServer.ambient().run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            let end = try await open(client, id) { socket in
                try await socket.send(Self.start("2026-05-10T09:12:00Z"))
                for _ in 0..<3 { try await socket.send(Self.audio()) }
                try await socket.send(Self.start("2026-05-10T09:20:00Z"))
                for _ in 0..<2 { try await socket.send(Self.audio()) }
                try await socket.send(Self.endMarker)
                return try await socket.end()
            }
            #expect(end.texts == [])
            #expect(end.code == 1000)
            #expect(try await client.finishAmbient(id) == "completed")
            #expect(try await secondsRecorded(client, id) == [3, 2])
        }
    }

    @Test("a broken ambient socket keeps its audio, and a newer socket replaces an older one", .covers("U-20"))
    func reconnect() async throws {
        let server = try TestServer.ambient()
        let manual = server.manual
        try await server.run(.socket) { anonymous in
            let client = try await anonymous.clinician()
            let id = try await client.ambientSession()
            try await open(client, id) { socket in
                try await socket.send(Self.start("2026-05-10T09:12:00Z"))
                for _ in 0..<3 { try await socket.send(Self.audio()) }
                try await socket.settle()
            }
            let replaced = try await open(client, id) { old in
                try await old.send(Self.start("2026-05-10T09:13:00Z"))
                for _ in 0..<2 { try await old.send(Self.audio()) }
                try await old.settle()
                try await open(client, id) { new in
                    // The old one might still have something to say.
                    try await manual.waitFor(.socketDrain)
                    manual.advance(by: .milliseconds(250))
                    try await new.send(Self.start("2026-05-10T09:14:00Z"))
                    try await new.send(Self.audio())
                    try await new.settle()
                    // What it holds counts, though it is open still, and what it says while it is waited for.
                    async let ended = client.endAmbient(id)
                    try await manual.waitFor(.socketDrain)
                    try await new.send(Self.audio())
                    try await new.settle()
                    manual.advance(by: .milliseconds(250))
                    try await manual.waitFor(.socketDrain)
                    manual.advance(by: .milliseconds(250))
                    #expect(try await ended.status == 200)
                    #expect(try await new.end().code == 1000)
                }
                return try await old.end().code
            }
            #expect(replaced == 1008)
            #expect(try await client.finishAmbient(id) == "completed")
            #expect(try await secondsRecorded(client, id) == [3, 2, 2])
        }
    }
}
