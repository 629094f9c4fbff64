import Basics
import Engines
import Foundation
import HTTPTypes
import Logging
import ScribeDomain
import ServerTestSupport
import TestSupport
import Testing

@testable import ScribeServer

/// Recogniser that the server makes of its settings, and its checks.
struct RecogniserTests {
    @Test("a recogniser that fails in a row is left alone, is unavailable in /readyz, and has the fallback")
    func fallback() async throws {
        var server = try TestServer()
        let runs = "\(server.folder.path)/runs"
        let program = try server.folder.write(Data("#!/bin/sh\necho run >>\(runs)\nexit 3\n".utf8), as: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        server.configuration.transcriber = .command("\(program) {file}")
        server.configuration.fallbackTranscriber = .fake
        try await server.run { client in
            func transcriber() async throws -> String {
                try await client.get("/readyz")["components.transcriber"]
            }
            for _ in 0..<7 {
                let answer = try await client.send(
                    .post, "/v1/listen", headers: [.authorization: "Token org_dev_key"],
                    body: TestAudio.wav(seconds: 6))
                #expect(answer.status == 200)
                #expect(try !answer["results.channels.0.alternatives.0.transcript"].isEmpty)
            }
            #expect(try String(contentsOfFile: runs, encoding: .utf8) == String(repeating: "run\n", count: 5))
            #expect(try await transcriber() == "command unavailable")
            let metrics = try await client.get("/metrics").text
            #expect(metrics.contains("\nscribe_transcriber_available 0\n"))
            #expect(metrics.contains(#"scribe_circuit_open{engine="transcriber"} 1"#))
        }
    }

    /// Recogniser that can be reached as the test says.
    private final class Reachable: Transcriber {
        let name = "remote"
        let state = LockedValue((failure: FailedProbe?.none, hasFailedLast: false, probes: 0))

        var hasFailedLast: Bool { state.withLock { $0.hasFailedLast } }

        func probe() async -> FailedProbe? {
            state.withLock { state in
                state.probes += 1
                state.hasFailedLast = state.failure != nil
                return state.failure
            }
        }

        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech { RecognisedSpeech(text: "") }

        func become(_ failure: FailedProbe?) { state.withLock { $0.failure = failure } }
    }

    @Test("a recogniser is checked at the start and each minute after a failure, and the log has each change")
    func probes() async throws {
        let (transcriber, manual, log) = (Reachable(), ManualClock(), LogLines())
        let failure = FailedProbe(asked: "GET http://127.0.0.1:9/v1/models", answer: "502: bad gateway")
        let probe = EngineProbe(
            role: "transcriber", engine: transcriber, clock: manual.clock, logger: log.logger)
        @Sendable func minutes(_ count: Int) async throws {
            for _ in 0..<count {
                try await manual.waitFor(.engineProbe)
                manual.advance(by: .seconds(60))
            }
            try await manual.waitFor(.engineProbe)
        }
        transcriber.become(failure)
        try await withinTheTimeOfATest {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await probe.run() }
                try await manual.waitFor(.engineProbe)
                #expect(log.all.map(\.level) == [.warning])
                #expect(log.all.map(\.message) == ["the transcriber cannot be reached"])
                #expect(
                    log.all.first?.fields
                        == ["engine": "remote", "asked": failure.asked, "answer": failure.answer])
                try await minutes(3)
                #expect(transcriber.state.withLock { $0.probes } == 4)
                #expect(log.all.count == 1, "the same failure is logged once")
                transcriber.become(nil)
                try await minutes(1)
                #expect(log.all.last?.level == .notice)
                #expect(log.all.last?.message == "the transcriber can be reached")
                try await minutes(3)
                #expect(transcriber.state.withLock { $0.probes } == 5, "a recogniser that works is not checked")
                transcriber.become(failure)
                transcriber.state.withLock { $0.hasFailedLast = true }
                try await minutes(1)
                #expect(log.all.map(\.level) == [.warning, .notice, .warning])
                group.cancelAll()
            }
        }
    }
}
