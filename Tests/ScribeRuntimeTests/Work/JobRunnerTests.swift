import Basics
import Foundation
import Logging
import NIOPosix
import ObjectStorage
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import Engines
@testable import ScribeRuntime
@testable import ScribeStore

struct JobRunnerTests {
    private let retryable = EngineFailure(.transcriptionFailed, "503", isRetryable: true)

    @Test("the job runner transcribes the chunks of a commit, and then assembles the results")
    func success() async throws {
        let fixture = try JobRunnerFixture(.text("I have a fever."))
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        #expect(try await fixture.documents().map(\.status) == [.inProgress, .inProgress])
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.status) == [.success, .inProgress])
        try await fixture.performNext(.note)
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.status) == [.success, .success])
        #expect(try await fixture.documents().map(\.value) == ["I have a fever.", "note: I have a fever."])
        #expect(try await fixture.claim() == nil)
    }

    @Test("a retryable failure of a job is retried after a pause, up to the policy's number of attempts")
    func attempts() async throws {
        let fixture = try JobRunnerFixture(.failure(retryable))
        try await fixture.commit()
        try await fixture.performNext()
        // The assembly, which finds that it has to wait.
        try await fixture.performNext()
        // A second and up to a quarter more, and twice that.
        for pause in [1.25, 2.5] {
            #expect(try await fixture.claim() == nil, "the pause is not over")
            fixture.manual.advance(by: .seconds(pause))
            try await fixture.performNext()
        }
        try await fixture.performNext()
        let documents = try await fixture.documents()
        #expect(documents.map(\.status) == [.failure, .failure])
        #expect(documents.first?.errors.map(\.code) == [.transcriptionFailed])
    }

    @Test("the bytes of a chunk stay in memory until it is recognised, and while it will be tried again")
    func bytesInMemory() async throws {
        let fixture = try JobRunnerFixture(.failure(retryable), .text("I have a fever."))
        try await fixture.record()
        let object = try await fixture.store.audio.object(
            business: fixture.key.business, bucket: "bucket", key: "1/t/1.m4a")
        let file = try #require(object?.file)
        try await fixture.performNext(.transcribe)
        #expect(fixture.objects.received?.bytes(of: file) != nil)
        fixture.manual.advance(by: .seconds(2))
        try await fixture.performNext(.transcribe)
        #expect(fixture.objects.received?.bytes(of: file) == nil)
    }

    @Test("a refusal of a service costs a job no attempt, and the service's own pause is kept")
    func refusal() async throws {
        let refusal = EngineFailure(
            .transcriptionFailed, "left alone", isRetryable: true, retryAfter: 30, origin: .refusal)
        let fixture = try JobRunnerFixture(
            .failure(refusal), .failure(refusal), .failure(refusal), .failure(refusal), .text("at last"))
        try await fixture.record()
        for _ in 1...4 {
            try await fixture.performNext()
            fixture.manual.advance(by: .seconds(29))
            #expect(try await fixture.claim() == nil)
            fixture.manual.advance(by: .seconds(1))
        }
        try await fixture.performNext()
        try await fixture.commitRecorded()
        try await fixture.performNext()
        #expect(try await fixture.documents().first?.value == "at last")
    }

    @Test("a job that was claimed more often than its attempts allow is given up")
    func poison() async throws {
        let fixture = try JobRunnerFixture(.text("never heard"))
        try await fixture.commit()
        let job = try #require(try await fixture.claim())
        await fixture.perform(
            Job(
                id: job.id, transaction: job.transaction, attempt: 4, generation: job.generation, work: job.work,
                claim: job.claim))
        try await fixture.performNext()
        #expect(try await fixture.documents().first?.errors.map(\.code) == [.transcriptionFailed])
    }

    @Test("an interrupted job is released at once, and the interruption counts as no attempt")
    func interruption() async throws {
        let fixture = try JobRunnerFixture(.sleep(.seconds(60)), .text("heard"))
        try await fixture.commit()
        try await fixture.running { try await fixture.manual.waitFor(.fixture) }
        let job = try #require(try await fixture.claim())
        #expect(job.attempt == 1)
        await fixture.perform(job)
        try await fixture.performNext()
        #expect(try await fixture.documents().first?.value == "heard")
    }

    @Test("a note that a stop of the server interrupted is written after the next start")
    func interruptedNote() async throws {
        let fixture = try JobRunnerFixture(.text("heard"), noteTakes: .seconds(60))
        try await fixture.commit()
        try await fixture.running { try await fixture.manual.waitFor(.fixture) }
        #expect(try await fixture.documents().map(\.status) == [.success, .inProgress])
        try await fixture.running {
            try await fixture.manual.waitFor(.fixture)
            fixture.manual.advance(by: .seconds(60))
            try await fixture.finished()
        }
        #expect(try await fixture.documents().map(\.value) == ["heard", "note: heard"])
    }

    @Test("a failed note is reported beside its successful transcript")
    func noteFails() async throws {
        let fixture = try JobRunnerFixture(
            .text("heard"), noteFailures: [ScriptedNoteWriter.Broken()], writesNotesAtOnce: true)
        try await fixture.commit()
        try await fixture.performNext()
        try await fixture.performNext()
        let documents = try await fixture.documents()
        #expect(documents.map(\.status) == [.success, .failure])
        #expect(documents.last?.errors.map(\.code) == [.noteFailed])
    }

    @Test("the job runner runs no more jobs at a time than its limit, and finishes each")
    func concurrency() async throws {
        let fixture = try JobRunnerFixture(.sleep(.seconds(60)), transcriptions: 2)
        try await fixture.commit(chunks: 4)
        try await fixture.running {
            for _ in 1...2 {
                try await fixture.manual.waitFor(.fixture, .fixture)
                #expect(fixture.manual.count(of: .fixture) == 2)
                fixture.manual.advance(by: .seconds(60))
            }
            try await fixture.finished()
        }
        #expect(try await fixture.documents().first?.status == .success)
    }

    @Test("a further commit writes a failed note again, and keeps the transcript")
    func noteIsCured() async throws {
        let fixture = try JobRunnerFixture(
            .text("heard"), .text("heard again"), noteFailures: [ScriptedNoteWriter.Broken()], writesNotesAtOnce: true)
        try await fixture.commit()
        try await fixture.performNext()
        try await fixture.performNext()
        fixture.noteFailures.withLock { $0 = [] }
        #expect(
            try await fixture.store.transactions.commit(
                fixture.key, ChunkList(files: ["1.m4a"]), at: fixture.manual.now) == .process
        )
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.value) == ["heard", "note: heard"])
    }

    private let unavailable = EngineFailure(.noteFailed, "503", isRetryable: true)

    @Test("a failed note is retried by its own job, while the assembly job waits without a slot")
    func noteAttempts() async throws {
        let fixture = try JobRunnerFixture(.text("heard"), noteFailures: [unavailable, unavailable, unavailable])
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        for pause in [1.25, 2.5] {
            try await fixture.performNext(.note)
            #expect(
                try await fixture.claim() == nil, "the note waits for its next attempt, and the assembly for the note")
            fixture.manual.advance(by: .seconds(pause))
        }
        fixture.noteFailures.withLock { $0 = [] }
        try await fixture.performNext(.note)
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.value) == ["heard", "note: heard"])
    }

    @Test("a note writer's refusal costs no attempt, and three failures fail the note")
    func noteRefusals() async throws {
        let refusal = EngineFailure(
            .noteFailed, "left alone", isRetryable: true, retryAfter: 30, origin: .refusal)
        let fixture = try JobRunnerFixture(
            .text("heard"), noteFailures: [refusal, refusal, refusal, refusal, unavailable, unavailable, unavailable])
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        for _ in 1...4 {
            try await fixture.performNext(.note)
            fixture.manual.advance(by: .seconds(30))
        }
        for _ in 1...3 {
            try await fixture.performNext(.note)
            fixture.manual.advance(by: .seconds(30))
        }
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.status) == [.success, .failure])
        #expect(try await fixture.documents().last?.errors.map(\.code) == [.noteFailed])
    }

    @Test("a note is rewritten if its transcript was corrected meanwhile, unless a person wrote the note")
    func noteOfCorrectedTranscript() async throws {
        let fixture = try JobRunnerFixture(.text("heard"))
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        let job = try #require(try await fixture.claim(.note))
        let edit = ResultEdit(target: .template(ResultDocument.transcriptTemplate), value: "said")
        try await fixture.store.documents.edit(fixture.key, [edit], at: fixture.manual.now)
        await fixture.perform(job)
        #expect(try await fixture.documents().map(\.status) == [.success, .inProgress])
        try await fixture.performNext(.note)
        #expect(try await fixture.documents().last?.value == "note: said")
    }

    @Test("notes of a cancelled transaction are not written")
    func noteOfCancelled() async throws {
        let fixture = try JobRunnerFixture(.text("heard"))
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        let job = try #require(try await fixture.claim(.note))
        var patch = TransactionPatch()
        patch.isCancellation = true
        let cancellation = patch
        let now = fixture.manual.now
        try await fixture.store.transactions.update(fixture.key, at: now) { $0.apply(cancellation, at: now) }
        await fixture.perform(job)
        #expect(try await fixture.documents().last?.status == .inProgress)
        #expect(try await fixture.claim() == nil)
    }
}
