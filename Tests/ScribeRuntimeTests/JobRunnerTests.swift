import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore
@testable import Transcription

/// Says what it is told, one after the other; the last thing goes on.
private struct ScriptedTranscriber: Transcriber {
    enum Step { case text(String), failure(TranscriptionFailure), sleep(Duration) }

    let name = "scripted"
    let steps: NIOLockedValueBox<[Step]>
    let clock: ScribeClock

    func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
        switch steps.withLockedValue({ $0.count > 1 ? $0.removeFirst() : $0[0] }) {
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

    let isInstant = false
    let clock: ScribeClock
    let isBroken: Bool
    let delay: Duration?

    func write(_ template: Template, from transcript: String) async throws -> String {
        if isBroken { throw Broken() }
        if let delay { try await clock.sleep(for: delay, as: .fixture) }
        return "note: \(transcript)"
    }
}

/// A store with one transaction, and a runner for its jobs.
private struct Fixture {
    let manual = ManualClock()
    let folder: TemporaryFolder
    let store: Store
    let bell = JobBell()
    let key = Transaction.Key(business: .init("b-1"), id: .init("t"))
    let runner: JobRunner

    init(
        _ steps: ScriptedTranscriber.Step..., noteFails: Bool = false, noteTakes: Duration? = nil, concurrency: Int = 4
    )
        throws
    {
        folder = try TemporaryFolder()
        store = try Store(path: "\(folder.path)/scribe.sqlite", durability: .normal, transcribesOnArrival: true)
        let clock = manual.clock
        let template = Template(
            id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: [])
        runner = JobRunner(
            store: store, objects: ObjectFiles(folder: folder.path, durability: .normal, pool: .singleton),
            transcriber: ScriptedTranscriber(steps: NIOLockedValueBox(steps), clock: clock),
            noteWriter: ScriptedNoteWriter(clock: clock, isBroken: noteFails, delay: noteTakes),
            templates: TemplateCatalogue([template]), signals: ChangeSignals(), bell: bell, metrics: Metrics(),
            clock: clock, policy: .init(concurrency: concurrency, attempts: 3, backOff: .seconds(1)),
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
    func performNext() async throws { await runner.perform(try #require(try await claim())) }

    func claim() async throws -> Job? {
        guard case .jobs(let jobs) = try await store.claimJobs(upTo: 1, at: manual.now) else { return nil }
        return jobs.first
    }

    func documents() async throws -> [ResultDocument] {
        try #require(try await store.results(of: key)).documents
    }

    /// Returns when the results are final.
    func finished() async throws {
        while true {
            let changes = runner.signals.changes(of: key)
            if try await documents().allSatisfy(\.status.isFinal) { return }
            try await firstOf(changes, limit: nil, clock: manual.clock, as: .heldPoll)
        }
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
    private let retryable = TranscriptionFailure(.transcriptionFailed, "503", isRetryable: true)

    @Test("chunks are heard, and then the results are put together")
    func success() async throws {
        let fixture = try Fixture(.text("I have a fever."))
        try await fixture.commit()
        try await fixture.performNext()
        #expect(try await fixture.documents().map(\.status) == [.inProgress, .inProgress])
        try await fixture.performNext()
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
        let refusal = TranscriptionFailure(
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
        await fixture.runner.perform(
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
        await fixture.runner.perform(job)
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
        let fixture = try Fixture(.text("heard"), noteFails: true)
        try await fixture.commit()
        try await fixture.performNext()
        try await fixture.performNext()
        let documents = try await fixture.documents()
        #expect(documents.map(\.status) == [.success, .failure])
        #expect(documents.last?.errors.map(\.code) == [.noteFailed])
    }

    @Test("no more jobs run at a time than may, and each is done")
    func concurrency() async throws {
        let fixture = try Fixture(.sleep(.seconds(60)), concurrency: 2)
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
}
