import Basics
import Engines
import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct ConsultationsTests {
    private let fixture: UseCaseFixture
    private var transactions: Transactions { fixture.transactions }

    init() throws { fixture = try UseCaseFixture() }

    // MARK: Start

    @Test("a repeated start of a transaction is a replay and changes nothing")
    func replay() async throws {
        #expect(try await fixture.start(templates: ["notes"]) == .created)
        let documents = try await fixture.documents()
        fixture.manual.advance(by: .seconds(1))
        #expect(try await fixture.start(templates: ["notes", "soap"]) == .replayed)
        #expect(try await fixture.documents() == documents)
    }

    @Test("a start under a used id is refused for another user or audio location, or if replays are off")
    func taken() async throws {
        try await fixture.start()
        await #expect(throws: ScribeError.transactionAlreadyInitialized) {
            try await fixture.start(for: fixture.colleague)
        }
        await #expect(throws: ScribeError.transactionAlreadyInitialized) {
            try await transactions.start(.init("t"), fixture.request("elsewhere"), for: fixture.owner)
        }
        await #expect(throws: ScribeError.transactionAlreadyInitialized) {
            try await transactions.start(.init("t"), fixture.request(), for: fixture.owner, replays: false)
        }
        #expect(try await fixture.start(for: fixture.stranger) == .created, "ids are unique in a business only")
    }

    @Test("the id of a deleted transaction stays taken")
    func deletedID() async throws {
        try await fixture.start()
        try await transactions.archive(fixture.key(), by: fixture.owner.user)
        await #expect(throws: ScribeError.transactionAlreadyInitialized) { try await fixture.start() }
    }

    @Test("one of several concurrent starts creates the transaction, and the others are replays")
    func parallelStarts() async {
        let outcome = await atOnce { try await fixture.start() }
        #expect(outcome.failures.isEmpty)
        #expect(outcome.values.count { $0 == .created } == 1)
    }

    @Test("a start that a fixture refuses stores nothing")
    func refusedStart() async throws {
        await #expect(throws: ScribeError.refusedOnPurpose) { try await fixture.start(refusing: .initialise) }
        #expect(try await fixture.store.transactions.transaction(fixture.key()) == nil)
    }

    @Test("a client may have a limited number of open transactions, and old ones count no longer")
    func openLimit() async throws {
        var quotas = Quotas()
        quotas.openTransactions = 2
        let fixture = try UseCaseFixture(quotas: quotas)
        for id in ["one", "two"] { try await fixture.start(id) }
        await #expect(throws: ScribeError.transactionLimitExceeded) { try await fixture.start("three") }
        try await fixture.start("other", for: fixture.stranger)
        try await fixture.transactions.commit(fixture.key("one"), ChunkList(files: []))
        try await fixture.start("three")
        await #expect(throws: ScribeError.transactionLimitExceeded) { try await fixture.start("four") }
        fixture.manual.advance(by: .seconds(Transaction.openLifetime))
        try await fixture.start("four")
    }

    @Test("a business's custom template names the note in that business only")
    func ownTemplate() async throws {
        let own = CustomTemplate(id: .init("own"), title: "Ward Round", summary: nil, sectionIDs: [])
        try await fixture.store.templates.addTemplate(own, to: fixture.owner.business, at: fixture.manual.now)
        try await fixture.start(templates: ["own", "soap", "own"])
        try await fixture.start(templates: ["own"], for: fixture.stranger)
        #expect(try await fixture.documents().map(\.name) == ["Transcript", "Ward Round", "SOAP"])
        let others = try await fixture.store.transactions.results(of: fixture.key(of: fixture.stranger))?.documents
        #expect(others?.map(\.name) == ["Transcript", "own"])
    }

    // MARK: Stop and commit

    @Test("a whole-file transaction whose files are uploaded needs neither stop nor commit")
    func wholeFiles() async throws {
        var request = TransactionRequest(transfer: .nonVaded, audioURL: fixture.location().url)
        request.announcedFiles = ["10.mp3", "2.mp3", "10.mp3"]
        _ = try await transactions.start(.init("t"), request, for: fixture.owner)
        let transaction = try await fixture.transaction()
        #expect(transaction.userStatus == .committed)
        #expect(transaction.orderedFiles == ["10.mp3", "2.mp3"], "an app's names are no numbers of chunks")
    }

    @Test("a second stop replaces the files of the first and keeps known times")
    func stops() async throws {
        try await fixture.start()
        let times = ChunkTimes(start: 0, end: 10)
        try await transactions.stop(fixture.key(), ChunkList(files: ["1.wav"], times: ["1.wav": times]))
        try await transactions.stop(fixture.key(), ChunkList(files: ["2.wav", "1.wav"]))
        let stopped = try await fixture.transaction().stopped
        #expect(stopped == ChunkList(files: ["2.wav", "1.wav"], times: ["1.wav": times]))
        try await transactions.commit(fixture.key(), ChunkList(files: ["1.wav"]))
        try await transactions.stop(fixture.key(), ChunkList(files: ["3.wav"]))
        #expect(try await fixture.transaction().stopped == stopped, "a late stop changes nothing")
    }

    @Test("chunks are processed in the order of their numbers, whatever their names and places in the list")
    func order() async throws {
        try await fixture.start()
        for name in ["10.wav", "2.wav", "1.wav"] { try await fixture.upload(name) }
        let names = ["10.wav", "s3://bucket/260510/t/2.wav", "1.wav", "full_audio.wav", "2.wav"]
        try await transactions.commit(fixture.key(), ChunkList(files: names))
        let input = try await fixture.assembly(of: fixture.key()).input
        #expect(input.transaction.orderedFiles == ["1.wav", "2.wav", "10.wav"])
        #expect(input.chunks.count == 3)
    }

    @Test("a repeated commit does nothing, and a commit with a new file processes all files again")
    func commits() async throws {
        try await fixture.start()
        for name in ["1.wav", "2.wav"] { try await fixture.upload(name) }
        try await transactions.commit(fixture.key(), ChunkList(files: ["1.wav"]))
        let first = try await fixture.transaction()
        fixture.manual.advance(by: .seconds(5))
        try await transactions.commit(fixture.key(), ChunkList(files: ["1.wav"]))
        #expect(try await fixture.transaction() == first)
        try await transactions.commit(fixture.key(), ChunkList(files: ["2.wav"]))
        let second = try await fixture.transaction()
        #expect(second.committedFiles == ["1.wav", "2.wav"])
        #expect(second.committedAt == fixture.manual.now)
    }

    @Test("a commit after a failure of the server processes the transaction again")
    func anotherAttempt() async throws {
        try await fixture.start()
        try await transactions.commit(fixture.key(), ChunkList(files: []))
        try await fixture.finish(fixture.key(), .systemFailure)
        #expect(try await fixture.documents().allSatisfy { $0.status == .failure })
        try await transactions.commit(fixture.key(), ChunkList(files: []))
        #expect(try await fixture.documents().allSatisfy { $0.status == .inProgress })
        try await fixture.finish(fixture.key())
        #expect(try await fixture.transaction().processingStatus == .success)
    }

    @Test("a stop or commit of a cancelled, unknown or foreign transaction is refused")
    func afterCancellation() async throws {
        try await fixture.start()
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await transactions.patch(fixture.key(), patch)
        for (key, error) in [
            (fixture.key(), ScribeError.transactionCancelled), (fixture.key("unknown"), .transactionNotFound),
            (fixture.key(of: fixture.stranger), .transactionNotFound),
        ] {
            await #expect(throws: error) { try await transactions.stop(key, ChunkList(files: [])) }
            await #expect(throws: error) { try await transactions.commit(key, ChunkList(files: [])) }
        }
    }

    @Test(
        "a stop or commit that a fixture refuses leaves the transaction unchanged",
        arguments: [Fixture.Step.stop, .commit])
    func refused(step: Fixture.Step) async throws {
        try await fixture.start(refusing: step)
        await #expect(throws: ScribeError.refusedOnPurpose) {
            try await transactions.stop(fixture.key(), ChunkList(files: []))
            try await transactions.commit(fixture.key(), ChunkList(files: []))
        }
        let status: Transaction.UserStatus = step == .stop ? .initialized : .stopped
        #expect(try await fixture.transaction().userStatus == status)
    }

    // MARK: Patch and archive

    @Test("a cancellation combined with another user's deletion changes nothing")
    func cancelledByAnother() async throws {
        try await fixture.start()
        var patch = TransactionPatch()
        patch.isCancellation = true
        let refusal = ScribeError.invalidState("Only the user who started a transaction can delete it")
        await #expect(throws: refusal) {
            try await transactions.patch(fixture.key(), patch, archivedBy: fixture.colleague.user)
        }
        #expect(try await fixture.transaction().userStatus == .initialized)
        _ = try await transactions.patch(fixture.key(), patch, archivedBy: fixture.owner.user)
        #expect(try await fixture.store.transactions.transaction(fixture.key()) == nil)
    }

    @Test("a cancellation after the results are final changes nothing and stores no reason")
    func lateCancellation() async throws {
        try await fixture.start()
        try await transactions.commit(fixture.key(), ChunkList(files: []))
        try await fixture.finish(fixture.key())
        var patch = TransactionPatch()
        patch.isCancellation = true
        patch.processingError = .string("the user left")
        let patched = try await transactions.patch(fixture.key(), patch)
        #expect(patched.processingStatus == .success)
        #expect(patched.request.processingError == nil)
    }

    @Test("only its own user deletes a transaction")
    func archive() async throws {
        try await fixture.start()
        let refusal = ScribeError.invalidState("Only the user who started a transaction can delete it")
        await #expect(throws: refusal) {
            try await transactions.archive(fixture.key(), by: fixture.colleague.user)
        }
        await #expect(throws: ScribeError.transactionNotFound) {
            try await transactions.archive(fixture.key(of: fixture.stranger), by: fixture.stranger.user)
        }
        try await transactions.archive(fixture.key(), by: fixture.owner.user)
        await #expect(throws: ScribeError.transactionNotFound) {
            try await transactions.commit(fixture.key(), ChunkList(files: []))
        }
    }
}
