import Basics
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Does what it is told, one after the other; the last thing goes on.
private final class ScriptedTranscriber: Transcriber {
    enum Step { case text(String), failure(EngineFailure), hang }

    let name = "scripted"
    private let steps: LockedValue<[Step]>
    private let clock: WallClock
    let running = LockedValue((now: 0, most: 0, all: 0))

    init(_ steps: [Step], clock: WallClock) {
        self.steps = LockedValue(steps)
        self.clock = clock
    }

    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
        defer { running.withLock { $0.now -= 1 } }
        switch steps.withLock({ $0.count > 1 ? $0.removeFirst() : $0[0] }) {
        case .text(let text): return RecognisedSpeech(text: text)
        case .failure(let failure): throw failure
        case .hang:
            try await clock.sleep(for: .seconds(1_000_000), as: .fixture)
            return RecognisedSpeech(text: "")
        }
    }
}

struct GuardedTranscriberTests {
    let manual = ManualClock()
    let folder: TemporaryFolder
    let recording: Recording
    static let broken = EngineFailure(.transcriptionFailed, "500", isRetryable: true)

    init() throws {
        folder = try TemporaryFolder()
        recording = Recording(
            LocalAudio(path: try folder.write(TestAudio.wav(seconds: 2), as: "a")), ordinal: 1)
    }

    private func scripted(_ steps: ScriptedTranscriber.Step...) -> ScriptedTranscriber {
        ScriptedTranscriber(steps, clock: manual.clock)
    }

    func guarded(
        _ base: any Transcriber, fallback: (any Transcriber)? = nil, _ policy: EngineGuard.Policy = .init()
    ) -> GuardedTranscriber {
        GuardedTranscriber(base, fallback: fallback, policy: policy, clock: manual.clock, files: .singleton)
    }

    @Test("a recognition's time limit grows with each second of audio")
    func timeLimit() async throws {
        let transcriber = guarded(scripted(.hang), .init(timeLimit: .seconds(10), timeLimitPerSecond: .seconds(3)))
        let speech = Task { [recording] in try await transcriber.transcribe(recording) }
        try await manual.waitFor(.timeLimit)
        manual.advance(by: .seconds(15))
        manual.advance(by: .seconds(1))
        await #expect { try await speech.value } throws: {
            ($0 as? EngineFailure)?.code == .transcriptionTimeout
        }
    }

    @Test("failures in a row open the circuit, and one successful recognition after the pause closes it")
    func circuit() async throws {
        let failing = ScriptedTranscriber.Step.failure(Self.broken)
        let base = scripted(failing, failing, .text("back"))
        let transcriber = guarded(base, .init(failuresToOpen: 2, openTime: .seconds(30)))
        for _ in 0..<2 { await #expect(throws: Self.broken) { try await transcriber.transcribe(recording) } }
        #expect(transcriber.condition == .unavailable)
        await #expect { try await transcriber.transcribe(recording) } throws: { error in
            let failure = error as? EngineFailure
            return failure?.retryAfter == 30 && failure?.origin == .refusal
        }
        #expect(base.running.withLock { $0.all } == 2, "the service is left alone")
        manual.advance(by: .seconds(30))
        #expect(try await transcriber.transcribe(recording).text == "back")
        #expect(transcriber.condition == .available)
    }

    @Test(
        "a failure that the audio causes does not open the circuit",
        arguments: [
            EngineFailure(.undecodableAudio, "broken file"),
            EngineFailure(.transcriptionFailed, "415", origin: .input),
        ])
    func audioFailures(failure: EngineFailure) async throws {
        let transcriber = guarded(scripted(.failure(failure)), .init(failuresToOpen: 1))
        for _ in 0..<3 { await #expect(throws: failure) { try await transcriber.transcribe(recording) } }
        #expect(transcriber.condition == .available)
    }

    @Test("a failure that the audio causes does not close an open circuit")
    func audioFailuresWhileOpen() async throws {
        let broken = EngineFailure(.undecodableAudio, "broken file")
        let base = scripted(.failure(Self.broken), .failure(broken), .text("back"))
        let transcriber = guarded(base, .init(failuresToOpen: 1, openTime: .seconds(30)))
        await #expect(throws: Self.broken) { try await transcriber.transcribe(recording) }
        manual.advance(by: .seconds(30))
        await #expect(throws: broken) { try await transcriber.transcribe(recording) }
        #expect(transcriber.condition == .unavailable)
        #expect(try await transcriber.transcribe(recording).text == "back")
        #expect(transcriber.condition == .available)
    }

    @Test(
        "the fallback transcriber takes last attempts, permanent failures, and all while the circuit is open")
    func fallback() async throws {
        let second = scripted(.text("second"))
        let retryable = guarded(scripted(.failure(Self.broken)), fallback: second, .init(failuresToOpen: 3))
        await #expect(throws: Self.broken) { try await retryable.transcribe(recording) }
        let last = Recording(recording.audio, ordinal: 1, isLastAttempt: true)
        #expect(try await retryable.transcribe(last).text == "second")
        let refused = EngineFailure(.transcriptionFailed, "401")
        #expect(try await guarded(scripted(.failure(refused)), fallback: second).transcribe(recording).text == "second")
        let open = guarded(scripted(.failure(Self.broken)), fallback: second, .init(failuresToOpen: 1))
        #expect(try await open.transcribe(recording).text == "second")
    }

    @Test("no more recognitions than the limit run at the same time, and each gets its turn")
    func concurrency() async throws {
        let base = scripted(.hang)
        let transcriber = guarded(base, .init(timeLimit: .seconds(10), timeLimitPerSecond: .zero, concurrency: 2))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<5 { group.addTask { _ = try? await transcriber.transcribe(recording) } }
            for _ in 0..<2 {
                try await manual.waitFor(.timeLimit, .timeLimit)
                manual.advance(by: .seconds(10))
            }
            try await manual.waitFor(.timeLimit)
            manual.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        let running = base.running.withLock { $0 }
        #expect(running.most == 2)
        #expect(running.all == 5)
    }
}
