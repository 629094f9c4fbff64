import Basics
import Foundation
import ScribeDomain
import Testing

struct TransactionPatchTests {
    static let start = Date(timeIntervalSince1970: 1_778_404_353)
    let later = start.addingTimeInterval(60)

    func transaction(_ request: TransactionRequest = .init(transfer: .vaded)) -> Transaction {
        let owner = Principal(business: .init("b"), user: .init("u"), doctor: .init("d"), client: .init("c"))
        return Transaction(id: .init("t"), owner: owner, request: request, createdAt: Self.start)
    }

    var cancellation: TransactionPatch {
        var patch = TransactionPatch()
        patch.isCancellation = true
        return patch
    }

    @Test("an open transaction can be cancelled once, and then refuses every step but a second cancellation")
    func cancel() throws {
        var transaction = transaction()
        #expect(transaction.apply(cancellation, at: later) == .ended)
        #expect(transaction.userStatus == .cancelled)
        #expect(transaction.processingStatus == .cancelled)
        #expect(transaction.apply(cancellation, at: later) == .none)
        #expect(throws: ScribeError.transactionCancelled) { try transaction.stop(ChunkList(files: [])) }
        #expect(transaction.finish(.success, at: later) == .none)
    }

    @Test("a cancellation does not change a finished transaction")
    func lateCancel() throws {
        var transaction = transaction()
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        _ = transaction.finish(.success, at: later)
        var late = cancellation
        late.processingError = .object(["error": .string("cancelled_by_user")])
        #expect(transaction.apply(late, at: later) == .none)
        #expect(transaction.processingStatus == .success)
        #expect(transaction.request.processingError == nil)
    }

    @Test("a patch changes the fields that it names, merges additional data, and may store nothing")
    func patch() {
        var transaction = transaction(
            .init(transfer: .vaded, mode: "dictation", additionalData: .object(["a": .integer(1), "b": .integer(2)])))
        var patch = TransactionPatch()
        #expect(transaction.apply(patch, at: later) == .none)
        patch.additionalData = .object(["b": .integer(3)])
        patch.patientDetails = .object(["oid": .string("p-1")])
        #expect(transaction.apply(patch, at: later) == .stored)
        #expect(transaction.request.additionalData == .object(["a": .integer(1), "b": .integer(3)]))
        #expect(transaction.request.patientID == "p-1")
        #expect(transaction.request.mode == "dictation")
        patch = TransactionPatch()
        patch.sessionDetails = .object(["visit_id": .string("v-1")])
        _ = transaction.apply(patch, at: later)
        #expect(
            transaction.request.patientDetails == .object(["oid": .string("p-1"), "visit_id": .string("v-1")]),
            "what is not named stays")
    }

    @Test("deleting is repeatable, and a deleted transaction is not started again")
    func archive() throws {
        var transaction = transaction()
        #expect(throws: ScribeError.self) { try transaction.archive(by: .init("other"), at: later) }
        #expect(try transaction.archive(by: .init("u"), at: later) == .ended)
        #expect(try transaction.archive(by: .init("u"), at: later.addingTimeInterval(1)) == .none)
        #expect(transaction.archivedAt == later)
        #expect(!transaction.isReplayed(by: transaction.request, of: .init("u")))
    }

    @Test("a whole-file transaction is committed at init, and the same init can be repeated")
    func nonVaded() {
        let request = TransactionRequest(transfer: .nonVaded, audioURL: "s3://b/f", announcedFiles: ["a.wav", "a.wav"])
        var transaction = transaction(request)
        transaction.commitAtInit()
        #expect(transaction.userStatus == .committed)
        #expect(transaction.committedFiles == ["a.wav"])
        #expect(transaction.committedAt == transaction.createdAt)
        #expect(transaction.isReplayed(by: request, of: .init("u")))
        #expect(!transaction.isReplayed(by: .init(transfer: .nonVaded, audioURL: "s3://b/g"), of: .init("u")))
    }

    @Test("a transaction with chunks waits for its commit")
    func vaded() {
        var transaction = transaction()
        transaction.commitAtInit()
        #expect(transaction.userStatus == .initialized)
    }

    @Test("a whole-file transaction without file names uses its folder's files, without manifests and archives")
    func find() {
        var transaction = transaction(.init(transfer: .nonVaded, audioURL: "s3://b/f"))
        transaction.commitAtInit()
        #expect(transaction.waitsForAnyFile)
        transaction.find(["a.wav", "t.json", "full_audio.m4a_", "old/b.wav"])
        #expect(transaction.committedFiles == ["a.wav"])
        #expect(!transaction.waitsForAnyFile)
        transaction.find(["c.wav"])
        #expect(transaction.committedFiles == ["a.wav"], "what was found stays")
    }

    @Test("a transcript can replace the audio only before the commit")
    func transcript() throws {
        var transaction = transaction()
        #expect(try transaction.commitTranscript(at: later) == .process)
        #expect(throws: ScribeError.self) { try transaction.commitTranscript(at: later) }
    }

    @Test("a transaction can be converted only after its commit and not after a cancellation")
    func convertible() throws {
        var transaction = transaction()
        #expect(throws: ScribeError.self) { try transaction.requireConvertible() }
        _ = try transaction.commit(ChunkList(files: ["1.m4a"]), mayChangeResults: false, at: Self.start)
        try transaction.requireConvertible()
        _ = transaction.apply(cancellation, at: later)
        #expect(throws: ScribeError.transactionCancelled) { try transaction.requireConvertible() }
    }

    @Test(
        "a language counts as the spoken one in any spelling",
        arguments: [("eng", true), ("en-US", true), ("hi", false), ("EN", true)]
    )
    func languages(language: String, isSpoken: Bool) {
        #expect(TransactionRequest(transfer: .vaded, inputLanguages: ["en-IN"]).isSpoken(in: language) == isSpoken)
    }
}
