import Basics
import Foundation
import Logging
import NIOCore
import NIOPosix
import ObjectStorage
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import Engines
@testable import ScribeRuntime
@testable import ScribeStore

struct ScriptedNoteWriter: NoteWriter {
    struct Broken: Error {}

    let name = "scripted"
    let isInstant: Bool
    let clock: WallClock
    let failures: LockedValue<[any Error]>
    let delay: Duration?

    func write(_ request: NoteRequest) async throws -> WrittenNote {
        if let failure = failures.withLock({ $0.count > 1 ? $0.removeFirst() : $0.first }) { throw failure }
        if let delay { try await clock.sleep(for: delay, as: .fixture) }
        return WrittenNote(value: "note: \(request.transcript)")
    }
}

/// A store with one transaction, and a runner for its jobs.
struct JobRunnerFixture {
    let manual = ManualClock()
    let folder: TemporaryFolder
    let store: Store
    let changes = ChangeHub()
    let key = Transaction.Key(business: .init("b-1"), id: .init("t"))
    let runner: JobRunner
    let objects: ObjectFiles
    let noteFailures: LockedValue<[any Error]>

    init(
        _ steps: ScriptedTranscriber.Step..., noteFailures: [any Error] = [], noteTakes: Duration? = nil,
        writesNotesAtOnce: Bool = false, transcriptions: Int = 4
    ) throws {
        folder = try TemporaryFolder()
        store = try Store(
            at: TestDatabase.place("\(folder.path)/scribe.sqlite"), transcribesOnArrival: true, sink: changes)
        let clock = manual.clock
        let template = Template(
            id: .init("notes"), name: "Notes", format: .markdown, bucket: .custom, sections: [])
        self.noteFailures = LockedValue(noteFailures)
        var policy = WorkPolicy()
        policy.transcriptions = transcriptions
        policy.backOff = .seconds(1)
        objects = ObjectFiles(
            folder: folder.path, durability: .normal, identifiers: .counting(), pool: .singleton,
            room: ReceivedBytes.Room())
        runner = JobRunner(
            store: store, objects: objects,
            transcriber: ScriptedTranscriber(steps: LockedValue(steps), clock: clock),
            noteWriter: ScriptedNoteWriter(
                isInstant: writesNotesAtOnce, clock: clock, failures: self.noteFailures, delay: noteTakes),
            fixtureBehaviour: .idle,
            faults: FaultRules(WorldIdentifiers(.counting()), WorldMemory(limit: .max).share()),
            templates: TemplateCatalogue([template]), changes: changes, metrics: Metrics(),
            clock: manual.world, policy: policy,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// A consultation with this many chunks, up to its commit.
    func commit(chunks: Int = 1) async throws {
        try await record(chunks: chunks)
        try await commitRecorded(chunks: chunks)
    }

    func commitRecorded(chunks: Int = 1) async throws {
        _ = try await store.transactions.commit(key, ChunkList(files: (1...chunks).map { "\($0).m4a" }), at: manual.now)
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
        _ = try await store.transactions.initialise(transaction, documents: documents)
        for chunk in 1...chunks {
            try await objects.withNewObject { file in
                try await file.write(ByteBuffer(string: "x"))
                _ = try await file.finish()
                file.isKept = true
                let object = StoredObject(
                    bucket: "bucket", key: "1/t/\(chunk).m4a", file: file.name, size: 1,
                    eTag: String(repeating: "a", count: 32), createdAt: manual.now)
                _ = try await store.audio.put(object, business: key.business)
            }
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
            // A commit hands its job over when everything is there.
            if let job = changes.inboxes[kind]?.deliveredJobs(upTo: 1).first { return job }
            if case .jobs(let jobs) = try await store.work.claimJobs(kind, upTo: 1, at: manual.now) {
                return jobs.first
            }
        }
        return nil
    }

    func documents() async throws -> [ResultDocument] {
        try #require(try await store.transactions.results(of: key)).documents
    }

    /// Returns when the results are final.
    func finished() async throws {
        _ = try await changes.signals.longPoll(
            key, atMost: .seconds(1_000_000), clock: manual.world, until: OneShotSignal()
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

extension FixtureBehaviour {
    /// Behaviour without fixtures: never fails or delays a transaction, and never replaces a transcript.
    static let idle = FixtureBehaviour(FixtureSet(defaultPassages: [:], fixtures: []))
}
