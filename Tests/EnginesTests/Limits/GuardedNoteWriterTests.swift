import Basics
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

/// Does one thing for each note.
private struct ScriptedWriter: NoteWriter {
    enum Step: Sendable { case text(String), failure(EngineFailure), hang }

    let name = "scripted"
    let isInstant = false
    let step: LockedValue<Step>
    let clock: WallClock
    var requests = 1

    func requestCount(for request: NoteRequest) -> Int { request.transcript.isEmpty ? 0 : requests }

    func write(_ request: NoteRequest) async throws -> WrittenNote {
        switch step.withLock({ $0 }) {
        case .text(let text): return WrittenNote(value: text)
        case .failure(let failure): throw failure
        case .hang:
            try await clock.sleep(for: .seconds(1_000_000), as: .fixture)
            return WrittenNote(value: "")
        }
    }
}

struct GuardedNoteWriterTests {
    let manual = ManualClock()
    private static let down = EngineFailure(.noteFailed, "500", isRetryable: true)
    private static let unusable = EngineFailure(.noteFailed, "no note", origin: .input)

    private func request(from transcript: String = "words", isLastAttempt: Bool = false) -> NoteRequest {
        let template = Template(id: .init("n"), name: "N", format: .markdown, bucket: .custom, sections: [])
        var request = NoteRequest(template, from: transcript, of: Visit(id: "n", time: manual.now))
        request.isLastAttempt = isLastAttempt
        return request
    }

    private func scripted(_ step: ScriptedWriter.Step, requests: Int = 1) -> ScriptedWriter {
        ScriptedWriter(step: LockedValue(step), clock: manual.clock, requests: requests)
    }

    private func guarded(
        _ base: ScriptedWriter, hasFallback: Bool = false, _ policy: EngineGuard.Policy = .init()
    ) -> GuardedNoteWriter {
        GuardedNoteWriter(
            base, fallback: hasFallback ? scripted(.text("by rules")) : nil, policy: policy, clock: manual.clock)
    }

    @Test("a note writer has a time limit for each of its requests, and a circuit")
    func timeLimit() async throws {
        let writer = guarded(scripted(.hang, requests: 3), .init(timeLimit: .seconds(10), failuresToOpen: 1))
        let note = Task { try await writer.write(request()) }
        try await manual.waitFor(.timeLimit)
        manual.advance(by: .seconds(29))
        #expect(writer.condition == .available)
        manual.advance(by: .seconds(1))
        await #expect { try await note.value } throws: { ($0 as? EngineFailure)?.code == .noteFailed }
        #expect(writer.condition == .unavailable)
        await #expect { try await writer.write(request()) } throws: {
            ($0 as? EngineFailure)?.origin == .refusal
        }
    }

    @Test("a failure that another attempt may avoid is tried again before the fallback writes")
    func lastAttempt() async throws {
        let writer = guarded(scripted(.failure(Self.down)), hasFallback: true)
        await #expect(throws: Self.down) { try await writer.write(request()) }
        let note = try await writer.write(request(isLastAttempt: true))
        #expect(note.value == "by rules")
        #expect(note.warnings.map(\.code) == [.writtenByRules])
    }

    @Test("a failure because of the transcript goes to the fallback at once, and opens no circuit")
    func input() async throws {
        let writer = guarded(scripted(.failure(Self.unusable)), hasFallback: true, .init(failuresToOpen: 1))
        #expect(try await writer.write(request()).value == "by rules")
        #expect(writer.condition == .available)
    }

    @Test("the fallback writes while the circuit is open, and the model again afterwards")
    func circuit() async throws {
        let base = scripted(.failure(Self.down))
        let writer = guarded(base, hasFallback: true, .init(failuresToOpen: 2, openTime: .seconds(15)))
        await #expect(throws: Self.down) { try await writer.write(request()) }
        #expect(try await writer.write(request()).value == "by rules", "the second failure opens the circuit")
        base.step.withLock { $0 = .text("by the model") }
        #expect(try await writer.write(request()).value == "by rules")
        manual.advance(by: .seconds(16))
        #expect(try await writer.write(request()) == WrittenNote(value: "by the model"))
    }

    @Test("a note that needs no service is written without a warning while the circuit is open, and closes no circuit")
    func withoutService() async throws {
        let base = scripted(.failure(Self.down))
        let writer = guarded(base, hasFallback: true, .init(failuresToOpen: 1))
        #expect(try await writer.write(request()).value == "by rules")
        base.step.withLock { $0 = .text("no words") }
        #expect(try await writer.write(request(from: "")) == WrittenNote(value: "no words"))
        #expect(writer.condition == .unavailable)
    }

    @Test("a cancelled note does not go to the fallback")
    func cancellation() async throws {
        let writer = guarded(scripted(.hang), hasFallback: true)
        let note = Task { try await writer.write(request(isLastAttempt: true)) }
        try await manual.waitFor(.timeLimit)
        note.cancel()
        await #expect(throws: CancellationError.self) { try await note.value }
    }
}
