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

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(path: "\(folder.path)/scribe.sqlite", durability: .normal)
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
        return try await store.commit(key(), ChunkList(files: files), at: time)
    }

    func finish(_ job: Job, _ text: String) async throws {
        guard case .transcribe(let chunk) = job.work else { return }
        try await store.finishTranscription(
            job, of: chunk, result: .success(RecognisedSpeech(text: text)), at: start
        )
    }

    func claim(at time: Date? = nil) async throws -> Job? {
        guard case .job(let job) = try await store.claimJob(at: time ?? start) else { return nil }
        return job
    }
}

struct TransactionStoreTests {
    @Test("a transaction is read back as it was stored")
    func roundTrip() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.initialise() == .created)
        let results = try #require(try await fixture.store.results(of: fixture.key()))
        #expect(results.transaction.request.audioURL == "s3://bucket/260510/t")
        #expect(results.transaction.owner == fixture.owner)
        #expect(results.documents.map(\.kind) == [.transcript, .custom])
    }

    @Test("init replays while it is the same request, and is refused when it is another")
    func replay() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        #expect(try await fixture.initialise() == .replayed)
        await #expect(throws: ScribeError.transactionAlreadyInitialized) {
            try await fixture.initialise(audioURL: "s3://bucket/other")
        }
        try await fixture.commit([])
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await fixture.initialise() }
    }

    @Test("two businesses may use the same id, and neither sees the other's")
    func isolation() async throws {
        let fixture = try StoreFixture()
        let other = Principal(business: .init("b-2"), user: .init("u-1"), doctor: .init("o"), client: .init("c"))
        try await fixture.initialise()
        try await fixture.initialise(owner: other)
        try await fixture.commit(["1.m4a"])
        let theirs = try #require(try await fixture.store.results(of: fixture.key(business: "b-2")))
        #expect(theirs.transaction.userStatus == .initialized)
        let history = try await fixture.store.history(
            business: other.business, user: other.user, patient: nil, count: nil
        )
        #expect(history.map(\.owner) == [other])
        #expect(try await fixture.store.results(of: fixture.key(business: "b-3")) == nil)
    }

    @Test("a client's limit counts all that it ever started")
    func limit() async throws {
        let fixture = try StoreFixture()
        let client = Client(principal: fixture.owner, name: "n", workspace: "w", transactionLimit: 1)
        try await fixture.store.register([(client, [UInt8](repeating: 1, count: 32))])
        try await fixture.initialise()
        await #expect(throws: ScribeError.transactionLimitExceeded) { try await fixture.initialise("second") }
    }

    @Test("history is the newest first, of one user, at most as many as asked for")
    func history() async throws {
        let fixture = try StoreFixture()
        for number in 1...3 {
            try await fixture.initialise("t\(number)", at: fixture.start.addingTimeInterval(Double(number)))
        }
        func list(_ count: Int?, user: String = "u-1") async throws -> [String] {
            try await fixture.store.history(business: .init("b-1"), user: .init(user), patient: nil, count: count)
                .map(\.id.rawValue)
        }
        #expect(try await list(nil) == ["t3", "t2", "t1"])
        #expect(try await list(2) == ["t3", "t2"])
        #expect(try await list(nil, user: "u-2") == [])
    }

    @Test("a change of an unknown transaction is refused")
    func unknown() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: ScribeError.transactionNotFound) { try await fixture.commit([]) }
    }
}

struct JobStoreTests {
    @Test("a numbered chunk of an open transaction is transcribed as it arrives, other files are not")
    func early() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        #expect(try await fixture.put("1.m4a").hasWork)
        #expect(try await !fixture.put("full_audio.m4a_").hasWork)
        #expect(try await !fixture.put("2.m4a", business: "b-2").hasWork)
        let job = try #require(try await fixture.claim())
        guard case .transcribe(let chunk) = job.work else {
            Issue.record("not a transcription")
            return
        }
        #expect(chunk.name == "1.m4a")
        #expect(chunk.ordinal == 1)
        #expect(try await fixture.claim() == nil, "only one claimant gets it")
    }

    @Test("the same bytes again are not transcribed again, other bytes are")
    func contentHash() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a", eTag: "a")
        try await fixture.finish(try #require(try await fixture.claim()), "first")
        try await fixture.put("1.m4a", eTag: "a")
        #expect(try await fixture.claim() == nil)
        try await fixture.put("1.m4a", eTag: "b")
        #expect(try await fixture.claim() != nil)
    }

    @Test("a chunk that is replaced while it is transcribed goes again")
    func replacedMeanwhile() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a", eTag: "a")
        let job = try #require(try await fixture.claim())
        try await fixture.put("1.m4a", eTag: "b")
        try await fixture.finish(job, "of the old bytes")
        let again = try #require(try await fixture.claim())
        guard case .transcribe(let chunk) = again.work else { return }
        #expect(chunk.eTag.first == "b")
    }

    @Test("a replaced object's file is handed back for removal")
    func replacedFile() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.put("1.m4a").replacedFile == nil)
        let first = try #require(
            try await fixture.store.object(business: .init("b-1"), bucket: "bucket", key: "260510/t/1.m4a")
        )
        #expect(try await fixture.put("1.m4a").replacedFile == first.file)
        #expect(try await fixture.store.filesInUse(among: [first.file]) == [])
    }

    @Test("commit drops the text and the work of chunks that it does not list")
    func unlisted() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a", "3.m4a"] { try await fixture.put(name) }
        try await fixture.finish(try #require(try await fixture.claim()), "one")
        try await fixture.finish(try #require(try await fixture.claim()), "two")
        let running = try #require(try await fixture.claim())
        try await fixture.commit(["1.m4a"])
        try await fixture.finish(running, "three")
        let job = try #require(try await fixture.claim())
        #expect(job.work == .assemble)
        guard case .ready(let input) = try await fixture.store.planAssembly(job, objectWait: 10, at: fixture.start)
        else {
            Issue.record("not ready")
            return
        }
        #expect(input.chunks.map(\.file) == ["1.m4a"])
        let kept = try await fixture.store.pool.read { try $0.rows("SELECT file_name FROM chunk_transcripts").count }
        #expect(kept == 1)
    }

    @Test("assembly waits for the transcriptions, and the last of them wakes it")
    func waitsForTranscriptions() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a", "2.m4a"])
        try await fixture.put("1.m4a")
        try await fixture.put("2.m4a")
        let assembly = try #require(try await fixture.claim())
        #expect(try await fixture.store.planAssembly(assembly, objectWait: 10, at: fixture.start) == .waiting)
        let first = try #require(try await fixture.claim())
        let second = try #require(try await fixture.claim())
        try await fixture.finish(first, "one")
        #expect(try await fixture.claim() == nil)
        try await fixture.finish(second, "two")
        #expect(try await fixture.claim()?.work == .assemble)
    }

    @Test("assembly waits for a file that is late, and then does without it")
    func waitsForAudio() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        #expect(try await fixture.store.planAssembly(job, objectWait: 10, at: fixture.start) == .waiting)
        #expect(try await fixture.claim(at: fixture.start.addingTimeInterval(9.9)) == nil)
        let deadline = fixture.start.addingTimeInterval(10)
        #expect(try await fixture.store.claimJob(at: fixture.start) == .nothing(until: deadline))
        let again = try #require(try await fixture.claim(at: deadline))
        guard case .ready(let input) = try await fixture.store.planAssembly(again, objectWait: 10, at: deadline) else {
            Issue.record("not ready")
            return
        }
        guard case .failure(let diagnostic)? = input.chunks.first?.result else { return }
        #expect(diagnostic.code == .audioMissing)
    }

    @Test("the late file's arrival wakes the assembly at once")
    func lateAudioArrives() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        _ = try await fixture.store.planAssembly(job, objectWait: 10, at: fixture.start)
        let soon = fixture.start.addingTimeInterval(1)
        #expect(try await fixture.put("1.m4a", at: soon).hasWork)
        #expect(try await fixture.claim(at: soon)?.work == .assemble)
    }

    @Test("results of an earlier commit are not written over those of a later one")
    func generations() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        for name in ["1.m4a", "2.m4a"] {
            try await fixture.put(name)
            try await fixture.finish(try #require(try await fixture.claim()), name)
        }
        try await fixture.commit(["1.m4a"])
        let job = try #require(try await fixture.claim())
        guard case .ready(let input) = try await fixture.store.planAssembly(job, objectWait: 10, at: fixture.start)
        else { return }
        try await fixture.commit(["1.m4a", "2.m4a"])
        var documents = input.documents
        for index in documents.indices {
            documents[index].status = .success
            documents[index].value = "stale"
        }
        try await fixture.store.finish(job, for: input, documents: documents, outcome: .success, at: fixture.start)
        let results = try #require(try await fixture.store.results(of: fixture.key()))
        #expect(results.documents.allSatisfy { $0.status == .inProgress })
        #expect(try await fixture.claim()?.work == .assemble, "the job goes again")
    }

    @Test("jobs that were running when the process died are claimed again after the next start")
    func restart() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        _ = try await fixture.claim()
        try fixture.store.close()
        let store = try Store(path: "\(fixture.folder.path)/scribe.sqlite", durability: .full)
        guard case .job(let job) = try await store.claimJob(at: fixture.start) else {
            Issue.record("no job")
            return
        }
        #expect(job.attempt == 2)
    }

    @Test("a postponed job is claimed when its time has come")
    func postponed() async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let job = try #require(try await fixture.claim())
        let later = fixture.start.addingTimeInterval(5)
        try await fixture.store.postpone(job, until: later, countsAttempt: false)
        #expect(try await fixture.claim() == nil)
        #expect(try await fixture.claim(at: later)?.attempt == 1)
    }
}

struct SchemaTests {
    @Test("a database of a later version is refused")
    func newer() throws {
        let fixture = try StoreFixture()
        try fixture.store.pool.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('999 from the future')")
        }
        try fixture.store.close()
        #expect(throws: Store.Problem.self) {
            try Store(path: "\(fixture.folder.path)/scribe.sqlite", durability: .normal)
        }
    }

    @Test("a database of the first version is migrated, and what is in it stays")
    func older() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/scribe.sqlite"
        let old = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(old, upTo: "001 foundations")
        try await old.write {
            try $0.execute(
                sql: """
                    INSERT INTO transactions (business_id, txn_id, user_id, doctor_id, client_id, request, user_status,
                        processing_status, created_at)
                    VALUES ('b', 't', 'u', 'd', 'c', '{"transfer":"vaded","announcedFiles":[],"inputLanguages":[],
                        "templates":[],"flavour":""}', 'init', 'in-progress', 0)
                    """
            )
        }
        try old.close()
        let store = try Store(path: path, durability: .normal)
        let results = try await store.results(of: .init(business: .init("b"), id: .init("t")))
        #expect(results?.transaction.userStatus == .initialized)
        #expect(try await store.multipartUpload("x", bucket: "b", key: "k", business: .init("b")) == nil)
    }

    @Test("full durability syncs the log with every commit, normal does not", arguments: Store.Durability.allCases)
    func synchronous(durability: Store.Durability) throws {
        let folder = try TemporaryFolder()
        let store = try Store(path: "\(folder.path)/scribe.sqlite", durability: durability)
        let value = try store.pool.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(value == (durability == .full ? 2 : 1))
    }

    @Test(
        "the schema itself refuses what must not be",
        arguments: [
            "UPDATE transactions SET user_status = 'commit'",
            "UPDATE transactions SET processing_status = 'done'",
            "UPDATE documents SET status = 'success'",
            "UPDATE documents SET status = 'failure'",
            "UPDATE transactions SET business_id = ''",
            "INSERT INTO jobs (kind, transaction_id, file_name, etag) VALUES ('assemble', 1, 'x', '')",
            "INSERT INTO jobs (kind, transaction_id, file_name, etag) VALUES ('assemble', 999, '', '')",
        ]
    )
    func constraints(sql: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        await #expect(throws: DatabaseError.self) { try await fixture.store.pool.write { try $0.execute(sql: sql) } }
    }

    @Test(
        "a poll and a claim search by index",
        arguments: [
            "SELECT * FROM transactions WHERE business_id = 'b' AND txn_id = 't'",
            "SELECT * FROM documents WHERE transaction_id = 1 ORDER BY id",
            "SELECT id FROM jobs WHERE state = 'pending' AND run_at <= 1 ORDER BY run_at, id LIMIT 1",
            "SELECT * FROM transactions WHERE business_id = 'b' AND bucket = 'x' AND folder = 'y'",
            "SELECT file FROM objects WHERE business_id = 'b' AND bucket = 'x' AND key = 'y'",
        ])
    func queryPlans(sql: String) async throws {
        let fixture = try StoreFixture()
        let plan = try await fixture.store.pool.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") }, "\(plan)")
    }
}

struct ClientStoreTests {
    @Test("a refresh token is exchanged once, and honoured 60 s more for those who ask in parallel")
    func rotation() async throws {
        let fixture = try StoreFixture()
        let client = Client(principal: fixture.owner, name: "n", workspace: "w", transactionLimit: nil)
        try await fixture.store.register([(client, [UInt8](repeating: 1, count: 32))])
        func hash(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        let end = fixture.start.addingTimeInterval(1000)
        try await fixture.store.saveRefreshToken(hash: hash(1), of: .init("c-1"), now: fixture.start, expiresAt: end)
        func rotate(_ old: UInt8, _ new: UInt8, after seconds: Double) async throws -> Client? {
            try await fixture.store.rotateRefreshToken(
                hash: hash(old), to: hash(new), now: fixture.start.addingTimeInterval(seconds), expiresAt: end,
                grace: 60
            )
        }
        #expect(try await rotate(1, 2, after: 10) == client)
        #expect(try await rotate(1, 3, after: 70) == client)
        #expect(try await rotate(1, 4, after: 71) == nil)
        #expect(try await rotate(3, 5, after: 500) == client)
        #expect(try await rotate(2, 6, after: 1001) == nil)
        #expect(try await rotate(99, 7, after: 1) == nil)
    }
}
