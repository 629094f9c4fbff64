import Basics
import Foundation
import GRDB
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// A store in a folder or a schema of its own, and the moves of a transaction on it.
struct StoreFixture {
    let folder: TemporaryFolder
    let store: Store
    let changes = ChangeRecord()
    let start = Date(timeIntervalSince1970: 1_778_404_353)
    let owner = Principal(business: .init("b-1"), user: .init("u-1"), doctor: .init("o-1"), client: .init("c-1"))

    let place: Store.Place

    /// - Parameters:
    ///   - onSQLite: whether the test looks at SQLite itself.
    ///   - engine: makes the engine of the store, from the usual one.
    init(
        transcribesOnArrival: Bool = true, holder: LeaseHolder = .alone(), onSQLite: Bool = false,
        engine: (any StoreEngine) -> any StoreEngine = { $0 }
    ) throws {
        folder = try TemporaryFolder()
        let path = "\(folder.path)/scribe.sqlite"
        place = onSQLite ? .file(path, .normal) : TestDatabase.place(path)
        let opened = try Self.open(place, transcribesOnArrival: transcribesOnArrival, holder: holder, sink: changes)
        store = Store(
            engine(opened.database), transcribesOnArrival: transcribesOnArrival, quotas: opened.quotas,
            policies: opened.policies, vocabularies: opened.vocabularies, holder: holder)
    }

    /// Opens the same data once more, as another start or another process does.
    func reopened(transcribesOnArrival: Bool = true, holder: LeaseHolder = .alone()) throws -> Store {
        try Self.open(place, transcribesOnArrival: transcribesOnArrival, holder: holder)
    }

    private static func open(
        _ place: Store.Place, transcribesOnArrival: Bool = true, holder: LeaseHolder, sink: (any ChangeSink)? = nil
    ) throws -> Store {
        try Store(
            at: place, transcribesOnArrival: transcribesOnArrival, policies: RecordingPolicies([TestSessionPolicy()]),
            vocabularies: EventVocabularies([UsualVocabulary(), OnceVocabulary()]), holder: holder, sink: sink)
    }

    func key(_ id: String = "t", business: String = "b-1") -> Transaction.Key {
        Transaction.Key(business: .init(business), id: .init(id))
    }

    func document(_ kind: ResultDocument.Kind, _ id: String) -> ResultDocument {
        ResultDocument(
            id: .init(id), kind: kind, templateID: .init(kind.rawValue), name: kind.rawValue,
            format: kind == .transcript ? .transcript : .markdown
        )
    }

    @discardableResult
    func initialise(
        _ id: String = "t", owner: Principal? = nil, audioURL: String = "s3://bucket/260510/t", at time: Date? = nil,
        isSession: Bool = false
    ) async throws -> Initialisation {
        let owner = owner ?? self.owner
        var request = TransactionRequest(transfer: .vaded, mode: "consultation", audioURL: audioURL)
        if isSession {
            request.kind = .session
            request.intake = .arrived
        }
        let transaction = Transaction(id: .init(id), owner: owner, request: request, createdAt: time ?? start)
        let prefix = "\(owner.business)-\(id)"
        return try await store.transactions.initialise(
            transaction, documents: [document(.transcript, "\(prefix)-1"), document(.custom, "\(prefix)-2")]
        )
    }

    /// - Returns: what others are told of it.
    @discardableResult
    func put(
        _ name: String, eTag: Character = "a", business: String = "b-1", at time: Date? = nil
    ) async throws -> [Change] {
        let object = StoredObject(
            bucket: "bucket", key: "260510/t/\(name)", file: UUID().uuidString, size: 1,
            eTag: String(repeating: eTag, count: 32), createdAt: time ?? start
        )
        changes.forget()
        _ = try await store.audio.put(object, business: .init(business))
        return changes.all
    }

    /// - Returns: the files that it replaces.
    func replace(_ name: String) async throws -> [String] {
        let object = StoredObject(
            bucket: "bucket", key: "260510/t/\(name)", file: UUID().uuidString, size: 1,
            eTag: String(repeating: "a", count: 32), createdAt: start)
        return try await store.audio.put(object, business: owner.business)
    }

    @discardableResult
    func commit(_ files: [String], at time: Date? = nil) async throws -> Transaction.Effect {
        let time = time ?? start
        changes.forget()
        let effect = try await store.transactions.commit(key(), ChunkList(files: files), at: time)
        // As if no runner had been there to take the job.
        if let job = changes.claimed { try await store.work.postpone(job, until: time, countsAttempt: true) }
        return effect
    }

    func finish(_ job: Job, _ text: String) async throws {
        guard case .transcribe(let chunk) = job.work else {
            Issue.record("not a transcription")
            return
        }
        try await store.work.finishTranscription(
            job, of: chunk, result: .success(RecognisedSpeech(text: text)), at: start
        )
    }

    /// The next job of a kind, or of any.
    func claim(_ kind: Job.Kind? = nil, at time: Date? = nil) async throws -> Job? {
        for kind in kind.map({ [$0] }) ?? Job.Kind.allCases {
            if case .jobs(let jobs) = try await store.work.claimJobs(kind, upTo: 1, at: time ?? start) {
                return jobs.first
            }
        }
        return nil
    }
}

/// Keeps what the store has published.
final class ChangeRecord: ChangeSink {
    private let changes = LockedValue<[Change]>([])

    func publish(_ change: Change) { changes.withLock { $0.append(change) } }

    var all: [Change] { changes.withLock { $0 } }
    /// The job that was claimed last.
    var claimed: Job? { all.lazy.compactMap { if case .claimed(let job) = $0 { job } else { nil } }.last }

    func forget() { changes.withLock { $0 = [] } }
}

extension [Change] {
    var hasWork: Bool { contains { if case .work = $0 { true } else { false } } }
    /// The transactions to which audio has come.
    var transactions: [Transaction.Key] { compactMap { if case .audio(let key) = $0 { key } else { nil } } }
}

extension AssemblyInput {
    /// Of the files that were heard.
    var outcomes: [ChunkOutcome] {
        chunks.compactMap { if case .heard(let outcome) = $0 { outcome } else { nil } }
    }
}

extension ChunkOutcome {
    var failure: Diagnostic? {
        if case .failure(let diagnostic) = result { diagnostic } else { nil }
    }
}
