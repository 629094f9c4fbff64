import Foundation
import ScribeDomain
import Testing

struct TransactionLifecycleTests {
    static let start = Date(timeIntervalSince1970: 1_778_404_353)
    let later = start.addingTimeInterval(60)

    func transaction(_ request: TransactionRequest = .init(transfer: .vaded, mode: "dictation")) -> Transaction {
        let owner = Principal(business: .init("b"), user: .init("u"), doctor: .init("d"), client: .init("c"))
        return Transaction(id: .init("t"), owner: owner, request: request, createdAt: Self.start)
    }

    @Test("a repeated stop replaces the file list before the commit, and keeps the known times")
    func stopIsRepeatable() throws {
        var transaction = transaction()
        let times = ["1.m4a": ChunkTimes(start: 0, end: 10)]
        #expect(try transaction.stop(ChunkList(files: ["1.m4a"], times: times)) == .stored)
        #expect(try transaction.stop(ChunkList(files: ["1.m4a", "2.m4a"])) == .stored)
        #expect(transaction.stopped.files == ["1.m4a", "2.m4a"])
        #expect(transaction.stopped.times == times)
        #expect(transaction.userStatus == .stopped)
    }

    @Test("commit processes exactly the files that it lists, each once")
    func commitProcesses() throws {
        var transaction = transaction()
        _ = try transaction.stop(ChunkList(files: ["1.m4a", "2.m4a", "3.m4a"]))
        #expect(
            try transaction.commit(ChunkList(files: ["1.m4a", "3.m4a", "1.m4a"]), mayChangeResults: false, at: later)
                == .process)
        #expect(transaction.committedFiles == ["1.m4a", "3.m4a"])
        #expect(transaction.userStatus == .committed)
        #expect(transaction.processingStatus == .inProgress)
        #expect(transaction.committedAt == later)
    }

    @Test("a commit without an earlier stop is both stop and commit")
    func commitWithoutStop() throws {
        var transaction = transaction()
        #expect(try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: later) == .process)
        #expect(!transaction.userStatus.isOpen)
    }

    @Test("a commit that lists no new file changes nothing", arguments: [["1.m4a", "2.m4a"], ["2.m4a"], []])
    func commitIsRepeatable(files: [String]) throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a", "2.m4a"]), mayChangeResults: false, at: Self.start)
        let before = transaction
        #expect(try transaction.commit(ChunkList(files: files), mayChangeResults: false, at: later) == .none)
        #expect(transaction == before)
    }

    @Test("a commit that lists more files processes all files again, also after the end")
    func largerCommit() throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        _ = transaction.finish(.success, at: Self.start)
        #expect(try transaction.commit(ChunkList(files: ["2.m4a"]), mayChangeResults: false, at: later) == .process)
        #expect(transaction.committedFiles == ["1.m4a", "2.m4a"])
        #expect(transaction.processingStatus == .inProgress)
        #expect(transaction.processedAt == nil)
    }

    @Test(
        "a repeated commit processes again only after a failure of the system",
        arguments: [
            (Transaction.ProcessingStatus.systemFailure, Transaction.Effect.process),
            (.requestFailure, .none), (.success, .none),
        ]
    )
    func commitAfterTheEnd(outcome: Transaction.ProcessingStatus, effect: Transaction.Effect) throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        _ = transaction.finish(outcome, at: Self.start)
        #expect(try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: later) == effect)
    }

    @Test("a repeated commit processes audio that arrived since, once the first run is over")
    func commitWithNewAudio() throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        #expect(try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: true, at: later) == .none)
        _ = transaction.finish(.requestFailure, at: Self.start)
        #expect(try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: true, at: later) == .process)
    }

    @Test("the archived full recording is not processed, even when a commit lists it")
    func fullAudio() throws {
        var transaction = transaction()
        _ = try transaction.commit(
            ChunkList(files: ["full_audio.m4a_", "2.m4a", "full_audio.mp3", "1.m4a"]), mayChangeResults: false,
            at: later
        )
        #expect(transaction.orderedFiles == ["1.m4a", "2.m4a"])
    }

    @Test("a stop after commit is answered and ignored")
    func lateStop() throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        #expect(try transaction.stop(ChunkList(files: ["9.m4a"])) == .none)
        #expect(transaction.committedFiles == ["1.m4a"])
    }

    @Test("a cancelled transaction takes neither stop nor commit, and no result")
    func cancelled() {
        let base = transaction()
        var transaction = Transaction(
            id: base.id, owner: base.owner, request: base.request, userStatus: .cancelled,
            processingStatus: .cancelled, stopped: .init(files: []), committedFiles: [], createdAt: Self.start,
            committedAt: nil, processedAt: nil
        )
        #expect(throws: ScribeError.transactionCancelled) { try transaction.stop(ChunkList(files: [])) }
        #expect(throws: ScribeError.transactionCancelled) {
            try transaction.commit(ChunkList(files: []), mayChangeResults: false, at: later)
        }
        #expect(transaction.finish(.success, at: later) == .none)
    }

    @Test("a transaction is abandoned two hours after init, unless it was committed")
    func abandonment() throws {
        var transaction = transaction()
        #expect(!transaction.isAbandoned(at: Self.start.addingTimeInterval(7200)))
        #expect(transaction.isAbandoned(at: Self.start.addingTimeInterval(7201)))
        _ = try transaction.commit(ChunkList(files: []), mayChangeResults: false, at: later)
        #expect(!transaction.isAbandoned(at: Self.start.addingTimeInterval(7201)))
    }

    @Test("init is replayed only for the same user, audio location and mode, before any other call")
    func replay() throws {
        let request = TransactionRequest(transfer: .vaded, mode: "dictation", audioURL: "s3://b/f")
        var transaction = transaction(request)
        #expect(transaction.isReplayed(by: request, of: .init("u")))
        #expect(!transaction.isReplayed(by: request, of: .init("other")))
        var elsewhere = request
        elsewhere.audioURL = "s3://b/g"
        #expect(!transaction.isReplayed(by: elsewhere, of: .init("u")))
        _ = try transaction.stop(ChunkList(files: []))
        #expect(!transaction.isReplayed(by: request, of: .init("u")))
    }

    @Test("numbered chunks are processed by number, other files as listed")
    func order() throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["10.m4a", "2.m4a", "1.m4a"]), mayChangeResults: false, at: later)
        #expect(transaction.orderedFiles == ["1.m4a", "2.m4a", "10.m4a"])
        var other = self.transaction()
        _ = try other.commit(ChunkList(files: ["b.wav", "1.wav"]), mayChangeResults: false, at: later)
        #expect(other.orderedFiles == ["b.wav", "1.wav"])
        var whole = self.transaction(TransactionRequest(transfer: .nonVaded, audioURL: "s3://b/f"))
        whole.commitAtInit()
        whole.find(["10.wav", "2.wav", "visit.json"])
        #expect(whole.orderedFiles == ["2.wav", "10.wav"], "a folder's files have no order of their own")
    }

    @Test(
        "only a file named by a number and an extension has a chunk number",
        arguments: [
            ("1.m4a", 1), ("12.mp3", 12), ("full_audio.m4a_", nil), ("1.m4a_", nil), ("1", nil), ("a1.wav", nil),
            ("1.2.wav", nil), (".wav", nil), ("-1.wav", nil), ("٣.wav", nil), ("999999999.wav", 999_999_999),
            ("9223372036854775807.wav", nil),
        ] as [(String, Int?)]
    )
    func ordinals(name: String, ordinal: Int?) {
        #expect(chunkOrdinal(ofFile: name) == ordinal)
    }
}
