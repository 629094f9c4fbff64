import Foundation
import Logging
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines
@testable import ScribeRuntime
@testable import ScribeStore

/// Says what it is told, one after the other; the last thing goes on.
private struct ScriptedTranscriber: Transcriber {
    enum Step { case text(String), failure(EngineFailure), sleep(Duration) }

    let name = "scripted"
    let steps: LockedValue<[Step]>
    let clock: ScribeClock

    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        switch steps.withLock({ $0.count > 1 ? $0.removeFirst() : $0[0] }) {
        case .text(let text): return RecognisedSpeech(text: text)
        case .failure(let failure): throw failure
        case .sleep(let duration):
            try await clock.sleep(for: duration, as: .fixture)
            return RecognisedSpeech(text: "late")
        }
    }
}

private struct ScriptedNoteWriter: NoteWriter {
    struct Broken: Error {}

    let name = "scripted"
    let isInstant: Bool
    let clock: ScribeClock
    let failures: LockedValue<[any Error]>
    let delay: Duration?

    func write(_ request: NoteRequest) async throws -> WrittenNote {
        if let failure = failures.withLock({ $0.count > 1 ? $0.removeFirst() : $0.first }) { throw failure }
        if let delay { try await clock.sleep(for: delay, as: .fixture) }
        return WrittenNote(value: "note: \(request.transcript)")
    }
}

/// A store with one transaction, and a runner for its jobs.
private struct Fixture {
    let manual = ManualClock()
    let folder: TemporaryFolder
    let store: Store
    let changes = ChangeHub()
    let key = Transaction.Key(business: .init("b-1"), id: .init("t"))
    let runner: JobRunner
    let noteFailures: LockedValue<[any Error]>

    init(
        _ steps: ScriptedTranscriber.Step..., noteFailures: [any Error] = [], noteTakes: Duration? = nil,
        writesNotesAtOnce: Bool = false, transcriptions: Int = 4
    ) throws {
        folder = try TemporaryFolder()
        store = try Store(
            path: "\(folder.path)/scribe.sqlite", durability: .normal, transcribesOnArrival: true, sink: changes)
        let clock = manual.clock
        let template = Template(
            id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: [])
        self.noteFailures = LockedValue(noteFailures)
        runner = JobRunner(
            store: store,
            objects: ObjectFiles(
                folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton),
            transcriber: ScriptedTranscriber(steps: LockedValue(steps), clock: clock),
            noteWriter: ScriptedNoteWriter(
                isInstant: writesNotesAtOnce, clock: clock, failures: self.noteFailures, delay: noteTakes),
            bench: .idle, templates: TemplateCatalogue([template]), changes: changes, metrics: Metrics(),
            clock: clock, policy: .init(transcriptions: transcriptions, attempts: 3, backOff: .seconds(1)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A consultation with this many chunks, up to its commit.
    func commit(chunks: Int = 1) async throws {
        try await record(chunks: chunks)
        try await commitRecorded(chunks: chunks)
    }

    func commitRecorded(chunks: Int = 1) async throws {
        _ = try await store.commit(key, ChunkList(files: (1...chunks).map { "\($0).m4a" }), at: manual.now)
    }

    /// The same without the commit.
    func record(chunks: Int = 1) async throws {
        let owner = Principal(business: .init("b-1"), user: .init("u"), doctor: .init("d"), client: .init("c"))
        let transaction = Transaction(
            id: key.id, owner: owner, request: TransactionRequest(transfer: .vaded, audioURL: "s3://bucket/1/t"),
            createdAt: manual.now)
        let documents = [
            ResultDocument(
                id: .init("d-1"), kind: .transcript, templateID: ResultDocument.transcriptTemplate, name: "Transcript",
                format: .transcript),
            ResultDocument(
                id: .init("d-2"), kind: .custom, templateID: .init("notes"), name: "Notes", format: .markdown),
        ]
        _ = try await store.initialise(transaction, documents: documents)
        for chunk in 1...chunks {
            let object = StoredObject(
                bucket: "bucket", key: "1/t/\(chunk).m4a", file: UUID().uuidString, size: 1,
                eTag: String(repeating: "a", count: 32), contentType: nil, metadata: [:], createdAt: manual.now)
            _ = try await store.put(object, business: key.business)
        }
    }

    /// Claims one job and does it.
    func performNext(_ kind: Job.Kind? = nil) async throws { await perform(try #require(try await claim(kind))) }

    func perform(_ job: Job) async {
        await runner.loops.first { $0.worker.kind == job.work.kind }?.perform(job)
    }

    /// The next job of a kind, or of any.
    func claim(_ kind: Job.Kind? = nil) async throws -> Job? {
        for kind in kind.map({ [$0] }) ?? Job.Kind.allCases {
            if case .jobs(let jobs) = try await store.claimJobs(kind, upTo: 1, at: manual.now) { return jobs.first }
        }
        return nil
    }

    func documents() async throws -> [ResultDocument] {
        try #require(try await store.results(of: key)).documents
    }

    /// Returns when the results are final.
    func finished() async throws {
        _ = try await changes.signals.held(
            key, atMost: .seconds(1_000_000), clock: manual.clock, until: Departure()
        ) { ((), try await documents().allSatisfy(\.status.isFinal)) }
    }

    /// With a runner that runs until `body` has ended.
    func running(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withinTheTimeOfATest {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await runner.run() }
                try await body()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }
}

struct JobRunnerTests {
    private let retryable = EngineFailure(.transcriptionFailed, "503", isRetryable: true)

    @Test("chunks are heard, and then the results are put together")
    func success() async throws {
        let fixture = try Fixture(.text("I have a fever."))
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

    @Test("what another attempt may cure is tried again after a pause, and no more often than policy has it")
    func attempts() async throws {
        let fixture = try Fixture(.failure(retryable))
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

    @Test("a service that refuses to be asked costs no attempt, and is left alone as long as it wants")
    func refusal() async throws {
        let refusal = EngineFailure(
            .transcriptionFailed, "left alone", isRetryable: true, retryAfter: 30, origin: .refusal)
        let fixture = try Fixture(
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

    @Test("a job that was claimed more often than it may be tried has killed the process, and is given up")
    func poison() async throws {
        let fixture = try Fixture(.text("never heard"))
        try await fixture.commit()
        let job = try #require(try await fixture.claim())
        await fixture.perform(
            Job(id: job.id, transaction: job.transaction, attempt: 4, generation: job.generation, work: job.work))
        try await fixture.performNext()
        #expect(try await fixture.documents().first?.errors.map(\.code) == [.transcriptionFailed])
    }

    @Test("work that is interrupted goes back at once, and that was no attempt")
    func interruption() async throws {
        let fixture = try Fixture(.sleep(.seconds(60)), .text("heard"))
        try await fixture.commit()
        try await fixture.running { try await fixture.manual.waitFor(.fixture) }
        let job = try #require(try await fixture.claim())
        #expect(job.attempt == 1)
        await fixture.perform(job)
        try await fixture.performNext()
        #expect(try await fixture.documents().first?.value == "heard")
    }

    @Test("a note that was interrupted by a stop is written after the next start")
    func interruptedNote() async throws {
        let fixture = try Fixture(.text("heard"), noteTakes: .seconds(60))
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

    @Test("a note that cannot be written says so beside the transcript that was heard")
    func noteFails() async throws {
        let fixture = try Fixture(
            .text("heard"), noteFailures: [ScriptedNoteWriter.Broken()], writesNotesAtOnce: true)
        try await fixture.commit()
        try await fixture.performNext()
        try await fixture.performNext()
        let documents = try await fixture.documents()
        #expect(documents.map(\.status) == [.success, .failure])
        #expect(documents.last?.errors.map(\.code) == [.noteFailed])
    }

    @Test("no more jobs run at a time than may, and each is done")
    func concurrency() async throws {
        let fixture = try Fixture(.sleep(.seconds(60)), transcriptions: 2)
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

    @Test("a further commit cures a note that failed, and leaves the transcript as it was heard")
    func noteIsCured() async throws {
        let fixture = try Fixture(
            .text("heard"), .text("heard again"), noteFailures: [ScriptedNoteWriter.Broken()], writesNotesAtOnce: true)
        try await fixture.commit()
        try await fixture.performNext()
        try await fixture.performNext()
        fixture.noteFailures.withLock { $0 = [] }
        #expect(
            try await fixture.store.commit(fixture.key, ChunkList(files: ["1.m4a"]), at: fixture.manual.now) == .process
        )
        try await fixture.performNext(.assemble)
        #expect(try await fixture.documents().map(\.value) == ["heard", "note: heard"])
    }

    private let unavailable = EngineFailure(.noteFailed, "503", isRetryable: true)

    @Test("a note of a writer that takes time is tried again by itself, and the assembly holds nothing meanwhile")
    func noteAttempts() async throws {
        let fixture = try Fixture(.text("heard"), noteFailures: [unavailable, unavailable, unavailable])
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

    @Test("a note writer that refuses to be asked costs no attempt; one that has failed three times has failed")
    func noteRefusals() async throws {
        let refusal = EngineFailure(
            .noteFailed, "left alone", isRetryable: true, retryAfter: 30, origin: .refusal)
        let fixture = try Fixture(
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

    @Test("a note is written anew when its transcript was corrected meanwhile, and not at all when a person wrote it")
    func noteOfCorrectedTranscript() async throws {
        let fixture = try Fixture(.text("heard"))
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        let job = try #require(try await fixture.claim(.note))
        let edit = ResultEdit(target: .template(ResultDocument.transcriptTemplate), value: "said")
        try await fixture.store.edit(fixture.key, [edit], at: fixture.manual.now)
        await fixture.perform(job)
        #expect(try await fixture.documents().map(\.status) == [.success, .inProgress])
        try await fixture.performNext(.note)
        #expect(try await fixture.documents().last?.value == "note: said")
    }

    @Test("notes of a transaction that was cancelled are written by nobody")
    func noteOfCancelled() async throws {
        let fixture = try Fixture(.text("heard"))
        try await fixture.commit()
        try await fixture.performNext(.transcribe)
        try await fixture.performNext(.assemble)
        let job = try #require(try await fixture.claim(.note))
        var patch = TransactionPatch()
        patch.isCancellation = true
        let cancellation = patch
        let now = fixture.manual.now
        try await fixture.store.update(fixture.key, at: now) { $0.apply(cancellation, at: now) }
        await fixture.perform(job)
        #expect(try await fixture.documents().last?.status == .inProgress)
        #expect(try await fixture.claim() == nil)
    }
}
