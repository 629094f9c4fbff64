import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// Two processes on the same data.
struct LeaseTests {
    private let manual = ManualClock()
    private let fixture: StoreFixture
    /// The store of the other process.
    private let other: Store

    private var one: Store { fixture.store }

    init() throws {
        let holder = LeaseHolder.shared("one", lifetime: 30, clock: manual.clock)
        fixture = try StoreFixture(holder: holder)
        other = try fixture.reopened(holder: .shared("other", lifetime: 30, clock: manual.clock))
    }

    private func claim(_ store: Store) async throws -> Job? {
        guard case .jobs(let jobs) = try await store.work.claimJobs(.transcribe, upTo: 1, at: fixture.start) else {
            return nil
        }
        return jobs.first
    }

    private func finish(_ job: Job, in store: Store, _ text: String) async throws {
        guard case .transcribe(let chunk) = job.work else { throw Missing() }
        try await store.work.finishTranscription(
            job, of: chunk, result: .success(RecognisedSpeech(text: text)), at: fixture.start)
    }

    private func heard() async throws -> String? {
        let found = try await one.documents.chunkTranscript(of: fixture.key(), file: "1.m4a")
        return try found?.result.get().text
    }

    private struct Missing: Error {}

    @Test("a claimed job stays with its process while the lease is renewed, and is taken over afterwards")
    func takeOver() async throws {
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let job = try #require(try await claim(one))
        #expect(try await claim(other) == nil)
        for _ in 0..<3 {
            manual.advance(by: .seconds(20))
            #expect(try await one.work.renewLeases() == 0)
            #expect(try await other.work.renewLeases() == 0)
        }
        #expect(try await claim(other) == nil)
        // Its process is gone.
        manual.advance(by: .seconds(31))
        #expect(try await other.work.renewLeases() == 1)
        let taken = try #require(try await claim(other))
        #expect(taken.id == job.id && taken.attempt == 2)
        // Or was only late.
        try await finish(job, in: one, "late")
        #expect(try await heard() == nil)
        try await finish(taken, in: other, "in time")
        try await finish(job, in: one, "later still")
        #expect(try await heard() == "in time")
    }

    @Test("a start beside other processes claims only jobs with expired leases, and a start alone claims all")
    func starts() async throws {
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        _ = try #require(try await claim(one))
        let third = try fixture.reopened(holder: .shared("third", lifetime: 30, clock: manual.clock))
        #expect(try await claim(third) == nil)
        try third.close()
        manual.advance(by: .seconds(31))
        let fourth = try fixture.reopened(holder: .shared("fourth", lifetime: 30, clock: manual.clock))
        _ = try #require(try await claim(fourth))
        for store in [one, other, fourth] { try store.close() }
        let alone = try fixture.reopened(holder: .alone())
        _ = try #require(try await claim(alone))
        try alone.close()
        // One that was alone has leases without an end, and is gone when others share the data.
        let fifth = try fixture.reopened(holder: .shared("fifth", lifetime: 30, clock: manual.clock))
        _ = try #require(try await claim(fifth))
        try fifth.close()
    }

    @Test("an assembly job that was taken over stores no results of its first process")
    func assembly() async throws {
        try await fixture.initialise()
        try await fixture.commit([])
        guard case .jobs(let jobs) = try await one.work.claimJobs(.assemble, upTo: 1, at: fixture.start),
            let job = jobs.first,
            case .ready(let input) = try await one.work.planAssembly(job, objectWait: 0, at: fixture.start)
        else { throw Missing() }
        manual.advance(by: .seconds(31))
        #expect(try await other.work.renewLeases() == 1)
        guard case .jobs(let taken) = try await other.work.claimJobs(.assemble, upTo: 1, at: fixture.start) else {
            throw Missing()
        }
        #expect(taken.map(\.id) == [job.id])
        let late = try await one.work.finish(
            job, for: input, documents: input.documents, outcome: .success, at: fixture.start)
        #expect(late == .obsolete)
        #expect(try await one.transactions.requireTransaction(fixture.key()).processingStatus == .inProgress)
    }

    @Test("a server that transcribes chunks with the results leaves those that have a job of another server")
    func chunksOfOthers() async throws {
        let instant = try fixture.reopened(
            transcribesOnArrival: false, holder: .shared("instant", lifetime: 30, clock: manual.clock))
        try await fixture.initialise()
        try await fixture.put("1.m4a")
        let job = try #require(try await claim(other))
        try await fixture.commit(["1.m4a"])
        func plan() async throws -> AssemblyPlan? {
            guard
                case .jobs(let jobs) = try await instant.work.claimJobs(.assemble, upTo: 1, at: fixture.start),
                let assembly = jobs.first
            else { return nil }
            return try await instant.work.planAssembly(assembly, objectWait: 0, at: fixture.start)
        }
        guard case .waiting = try await plan() else { throw Missing() }
        try await finish(job, in: other, "heard once")
        guard case .ready(let input) = try await plan(), case .heard(let chunk) = try #require(input.chunks.first)
        else {
            throw Missing()
        }
        #expect(try chunk.result.get().text == "heard once")
    }

    @Test("a lane's deliveries belong to one process, and its unfinished ones are sent again by the next")
    func lanes() async throws {
        let draft = WebhookDraft(
            style: .usual, endpoint: .address("http://receiver/"), signingKey: nil, scheme: "http")
        guard
            case .registered(let webhook) = try await one.webhooks.register(
                draft, for: fixture.owner, pauses: [], at: fixture.start)
        else { throw Missing() }
        try await fixture.initialise(isSession: true)
        let lane = "webhook \(webhook.id)"
        func claim(_ store: Store) async throws -> [Delivery] {
            guard
                case .deliveries(let found) = try await store.webhooks.claimDeliveries(
                    in: lane, upTo: 1, at: fixture.start)
            else { return [] }
            return found
        }
        let sent = try #require(try await claim(one).first)
        #expect(try await claim(other).isEmpty)
        #expect(try await other.work.freeLanes().isEmpty)
        manual.advance(by: .seconds(31))
        #expect(try await other.work.freeLanes() == [lane])
        let again = try #require(try await claim(other).first)
        #expect(again.id == sent.id)
        #expect(try await one.webhooks.settle(sent, .delivered(signature: nil), at: fixture.start) == .lost)
        #expect(try await other.webhooks.settle(again, .delivered(signature: nil), at: fixture.start) == .delivered)
        try await other.work.leave(lane: lane)
        try await fixture.initialise("t-2", isSession: true)
        #expect(try await claim(one).count == 1, "a lane that was given back is free at once")
    }

    @Test("a conversation is processed by one process, until that has ended it, given it up, or died")
    func conversations() async throws {
        let begun = try #require(
            try await one.conversations.begin(
                Conversation(
                    id: "c", owner: fixture.owner, source: "omi", language: nil, createdAt: fixture.start,
                    startedAt: fixture.start, finishedAt: fixture.start, timeout: 120)))
        #expect(try await one.conversations.beginProcessing("c", from: .inProgress))
        #expect(try await !other.conversations.beginProcessing("c", from: .inProgress))
        #expect(try await !other.conversations.beginProcessing("c", from: .processing))
        for _ in 0..<3 {
            manual.advance(by: .seconds(20))
            _ = try await one.work.renewLeases()
            #expect(try await !other.conversations.beginProcessing("c", from: .processing))
        }
        try await one.conversations.leave(conversation: "c")
        #expect(try await other.conversations.beginProcessing("c", from: .processing), "it was given up")
        manual.advance(by: .seconds(31))
        #expect(try await one.conversations.beginProcessing("c", from: .processing), "its process is gone")
        var found = begun
        found.status = .processing
        found.summary.title = "first"
        #expect(try await one.conversations.complete(found, memories: [], at: fixture.start).summary.title == "first")
        found.summary.title = "late"
        #expect(try await other.conversations.complete(found, memories: [], at: fixture.start).summary.title == "first")
        #expect(try await !other.conversations.beginProcessing("c", from: .processing))
        let leases = try await one.read { try $0.rows("SELECT 1 FROM leases WHERE name = 'conversation c'").count }
        #expect(leases == 0)
    }

    @Test("the leases of a dead process are forgotten")
    func deadProcesses() async throws {
        func owners() async throws -> Set<String> {
            try await one.read { Set(try $0.rows("SELECT owner FROM leases").map { $0["owner"] as String }) }
        }
        #expect(try await other.work.holds(.sweep))
        _ = try await one.work.renewLeases()
        #expect(try await owners() == ["one", "other"])
        manual.advance(by: .seconds(31))
        _ = try await one.work.renewLeases()
        #expect(try await owners() == ["one"])
    }

    @Test(
        "a renewal forgets the open sockets of dead processes",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func openStreams() async throws {
        for store in [one, other] { try await store.transactions.addOpenStream(fixture.key()) }
        #expect(try await one.work.renewLeases() == 0)
        #expect(try await one.transactions.askForStreams(fixture.key(), because: .end) == 1)
        manual.advance(by: .seconds(31))
        #expect(try await one.work.renewLeases() == 0)
        #expect(try await one.transactions.askForStreams(fixture.key(), because: .end) == 0)
        #expect(try await other.transactions.askForStreams(fixture.key(), because: .end) == 1, "the own ones stay")
    }

    @Test("a chore belongs to one process until its lease expires")
    func chores() async throws {
        #expect(try await one.work.holds(.sweep))
        #expect(try await !other.work.holds(.sweep))
        #expect(try await other.work.holds(.expiry))
        manual.advance(by: .seconds(31))
        #expect(try await other.work.holds(.sweep))
        #expect(try await !one.work.holds(.sweep))
    }
}
