import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// A store in a folder of its own, and the moves of a transaction on it.
struct StoreFixture {
    let folder: TemporaryFolder
    let store: Store
    let start = Date(timeIntervalSince1970: 1_778_404_353)
    let owner = Principal(business: .init("b-1"), user: .init("u-1"), doctor: .init("o-1"), client: .init("c-1"))

    init(transcribesOnArrival: Bool = true) throws {
        folder = try TemporaryFolder()
        store = try Store(
            path: "\(folder.path)/scribe.sqlite", durability: .normal, transcribesOnArrival: transcribesOnArrival)
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
        _ id: String = "t", owner: Principal? = nil, audioURL: String = "s3://bucket/260510/t", at time: Date? = nil
    ) async throws -> Initialisation {
        let owner = owner ?? self.owner
        let transaction = Transaction(
            id: .init(id), owner: owner,
            request: TransactionRequest(transfer: .vaded, mode: "consultation", audioURL: audioURL),
            createdAt: time ?? start
        )
        let prefix = "\(owner.business)-\(id)"
        return try await store.initialise(
            transaction, documents: [document(.transcript, "\(prefix)-1"), document(.custom, "\(prefix)-2")]
        )
    }

    @discardableResult
    func put(_ name: String, eTag: Character = "a", business: String = "b-1", at time: Date? = nil) async throws
        -> UploadEffect
    {
        let object = StoredObject(
            bucket: "bucket", key: "260510/t/\(name)", file: UUID().uuidString, size: 1,
            eTag: String(repeating: eTag, count: 32), contentType: nil, metadata: [:], createdAt: time ?? start
        )
        return try await store.put(object, business: .init(business))
    }

    @discardableResult
    func commit(_ files: [String], at time: Date? = nil) async throws -> Transaction.Effect {
        let time = time ?? start
        return try await store.commit(key(), ChunkList(files: files), at: time).effect
    }

    func finish(_ job: Job, _ text: String) async throws {
        guard case .transcribe(let chunk) = job.work else {
            Issue.record("not a transcription")
            return
        }
        try await store.finishTranscription(
            job, of: chunk, result: .success(RecognisedSpeech(text: text)), at: start
        )
    }

    func claim(at time: Date? = nil) async throws -> Job? {
        guard case .jobs(let jobs) = try await store.claimJobs(upTo: 1, at: time ?? start) else { return nil }
        return jobs.first
    }
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
