import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct DeliveryStoreTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    func register(
        _ style: Webhook.Style = .usual, events: [String] = [], pauses: [Duration] = [.seconds(10)],
        owner: Principal? = nil, endpoint: String = "http://receiver/"
    ) async throws -> Webhook {
        let draft = WebhookDraft(
            style: style, endpoint: .address(endpoint), events: events, signingKey: nil, scheme: "http")
        let registration = try await fixture.store.webhooks.register(
            draft, for: owner ?? fixture.owner, pauses: pauses, at: fixture.start)
        guard case .registered(let webhook) = registration else { throw Missing() }
        return webhook
    }

    struct Missing: Error {}

    func claim(_ webhook: Webhook, at time: Date? = nil, upTo limit: Int = 10) async throws -> [Delivery] {
        let claim = try await fixture.store.webhooks.claimDeliveries(
            in: "webhook \(webhook.id)", upTo: limit, at: time ?? fixture.start)
        guard case .deliveries(let deliveries) = claim else { return [] }
        return deliveries
    }

    private func events(_ deliveries: [Delivery]) -> [SessionEvent] {
        deliveries.compactMap { if case .event(let event, _, _, _) = $0.content { event } else { nil } }
    }

    /// Delivers what there is, one after the other.
    private func deliverAll(_ webhook: Webhook) async throws -> [SessionEvent] {
        var heard: [SessionEvent] = []
        while case let deliveries = try await claim(webhook), !deliveries.isEmpty {
            for delivery in deliveries {
                _ = try await fixture.store.webhooks.settle(delivery, .delivered(signature: nil), at: fixture.start)
            }
            heard += events(deliveries)
        }
        return heard
    }

    /// Processes what was committed.
    private func finish(
        _ outcome: Transaction.ProcessingStatus, failing: [String] = []
    ) async throws {
        let job = try #require(try await fixture.claim(.assemble))
        guard case .ready(let input) = try await fixture.store.work.planAssembly(job, objectWait: 0, at: fixture.start)
        else { throw Missing() }
        let documents = input.documents.map { document in
            var document = document
            document.status = failing.contains(document.id.rawValue) ? .failure : .success
            document.value = "text"
            document.errors = document.status == .failure ? [Diagnostic(.noteFailed, "no")] : []
            return document
        }
        try await fixture.store.work.finish(job, for: input, documents: documents, outcome: outcome, at: fixture.start)
    }

    @Test("each change of a transaction raises its webhook event, in order")
    func lifecycle() async throws {
        let webhook = try await register()
        try await fixture.initialise()
        try await fixture.commit([])
        try await fixture.commit([])
        try await finish(.success)
        #expect(try await deliverAll(webhook) == [.started, .ended, .completed])
    }

    @Test(
        "a transaction's final event depends on its results: completed, partial or failed",
        arguments: [
            (Transaction.ProcessingStatus.success, [String](), SessionEvent.completed),
            (.success, ["b-1-t-2"], .partial), (.success, ["b-1-t-1", "b-1-t-2"], .failed),
            (.requestFailure, ["b-1-t-1", "b-1-t-2"], .failed), (.systemFailure, [], .failed),
        ])
    func outcomes(outcome: Transaction.ProcessingStatus, failing: [String], event: SessionEvent) async throws {
        let webhook = try await register(events: ["session.completed", "session.partial", "session.failed"])
        try await fixture.initialise()
        try await fixture.commit([])
        try await finish(outcome, failing: failing)
        #expect(try await deliverAll(webhook) == [event])
    }

    @Test("a registration gets only the events that its style has a name for")
    func connect() async throws {
        let webhook = try await register(.once, events: ["v2rx.completed", "appointment.created"])
        let other = try await register(.once, events: ["appointment.created"], endpoint: "http://other/")
        try await fixture.initialise()
        try await fixture.commit([])
        try await finish(.success, failing: ["b-1-t-2"])
        #expect(try await deliverAll(webhook) == [.partial])
        #expect(try await deliverAll(other) == [])
    }

    @Test("a cancelled or outdated result raises no event, and another business gets none")
    func notTrue() async throws {
        let ended = ["session.completed", "session.partial", "session.failed"]
        let webhook = try await register(events: ended)
        let stranger = Principal(business: .init("b-2"), user: .init("u"), doctor: .init("o"), client: .init("c"))
        let theirs = try await register(owner: stranger)
        try await fixture.initialise()
        try await fixture.commit([])
        let job = try #require(try await fixture.claim(.assemble))
        guard case .ready(let input) = try await fixture.store.work.planAssembly(job, objectWait: 0, at: fixture.start)
        else { throw Missing() }
        try await fixture.commit(["1.m4a"])
        let end = try await fixture.store.work.finish(
            job, for: input, documents: [], outcome: .success, at: fixture.start)
        #expect(end == .outdated)
        let now = fixture.start
        try await fixture.store.transactions.update(fixture.key(), at: now) { (transaction) throws(ScribeError) in
            var patch = TransactionPatch()
            patch.isCancellation = true
            return transaction.apply(patch, at: now)
        }
        #expect(try await deliverAll(webhook) == [])
        #expect(try await deliverAll(theirs) == [])
    }

    @Test("one message of a session is sent at a time, and the next waits until it is delivered or given up")
    func order() async throws {
        let webhook = try await register(pauses: [.seconds(10), .seconds(60)])
        try await fixture.initialise()
        try await fixture.commit([])
        try await fixture.initialise("other")
        let first = try await claim(webhook)
        #expect(events(first) == [.started, .started])
        #expect(try await claim(webhook) == [])
        #expect(
            try await fixture.store.webhooks.settle(first[0], .failed(problem: "no"), at: fixture.start) == .retried)
        _ = try await fixture.store.webhooks.settle(first[1], .delivered(signature: nil), at: fixture.start)
        #expect(try await claim(webhook, at: fixture.start + 9) == [])
        for (pause, settlement) in [(10.0, Settlement.retried), (70, .failed)] {
            let again = try await claim(webhook, at: fixture.start + pause)
            #expect(events(again) == [.started])
            let settled = try await fixture.store.webhooks.settle(
                again[0], .failed(problem: "no"), at: fixture.start + pause)
            #expect(settled == settlement)
        }
        #expect(events(try await claim(webhook, at: fixture.start + 70)) == [.ended])
    }

    @Test("a delivery that was being sent when the process ended is sent again after the next start")
    func restart() async throws {
        let webhook = try await register()
        try await fixture.initialise()
        #expect(events(try await claim(webhook)) == [.started])
        try fixture.store.close()
        let store = try fixture.reopened()
        #expect(try await store.webhooks.deliveryLanes() == ["webhook \(webhook.id)"])
        let claim = try await store.webhooks.claimDeliveries(in: "webhook \(webhook.id)", upTo: 1, at: fixture.start)
        guard case .deliveries(let deliveries) = claim else { throw Missing() }
        #expect(deliveries.map(\.attempt) == [2])
    }

    @Test("a failed delivery is kept, and sent once more on request, in its order")
    func replay() async throws {
        let webhook = try await register(pauses: [])
        try await fixture.initialise()
        try await fixture.commit([])
        for _ in 1...2 {
            let deliveries = try await claim(webhook)
            #expect(deliveries.count == 1)
            #expect(
                try await fixture.store.webhooks.settle(deliveries[0], .failed(problem: "no"), at: fixture.start)
                    == .failed)
        }
        let failed = try await fixture.store.webhooks.deliveries(DeliveryFilter(state: .failed))
        #expect(failed.map(\.event) == ["session.ended", "session.started"])
        #expect(failed.map(\.problem) == ["no", "no"])
        #expect(try await fixture.store.webhooks.replayFailed(of: webhook.id + 1, at: fixture.start) == 0)
        #expect(
            try await fixture.store.webhooks.replayFailed(of: nil, at: fixture.start.addingTimeInterval(-60)) == 2,
            "the clock was ahead")
        await #expect(throws: ScribeError.self) {
            try await fixture.store.webhooks.replay(failed[0].id, at: fixture.start)
        }
        #expect(try await deliverAll(webhook) == [.started, .ended])
        #expect(try await fixture.store.webhooks.replay(failed[1].id, at: fixture.start)?.state == .pending)
        #expect(try await deliverAll(webhook) == [.started])
        #expect(try await fixture.store.webhooks.replay(99, at: fixture.start) == nil)
    }

    @Test("a removed registration gets no deliveries, and its pending ones fail with the reason")
    func removal() async throws {
        let webhook = try await register()
        try await fixture.initialise()
        let sending = try await claim(webhook)
        try await fixture.commit([])
        #expect(
            try await !fixture.store.webhooks.removeWebhook(
                webhook.id, style: .once, of: .init("b-1"), at: fixture.start))
        #expect(
            try await !fixture.store.webhooks.removeWebhook(
                webhook.id, style: .usual, of: .init("b-2"), at: fixture.start))
        #expect(
            try await fixture.store.webhooks.removeWebhook(
                webhook.id, style: .usual, of: .init("b-1"), at: fixture.start))
        #expect(
            try await !fixture.store.webhooks.removeWebhook(
                webhook.id, style: .usual, of: .init("b-1"), at: fixture.start))
        #expect(
            try await fixture.store.webhooks.settle(sending[0], .failed(problem: "no"), at: fixture.start) == .failed)
        try await fixture.initialise("later")
        let left = try await fixture.store.webhooks.deliveries(DeliveryFilter())
        #expect(left.map(\.problem) == ["the registration was removed", "the registration was removed"])
        #expect(try await fixture.store.webhooks.replayFailed(of: nil, at: fixture.start) == 0)
        await #expect(throws: ScribeError.self) {
            try await fixture.store.webhooks.replay(left[0].id, at: fixture.start)
        }
    }

    @Test("a protocol session that nobody ends raises its expiry event once, at its time")
    func expiry() async throws {
        let webhook = try await register(events: ["session.expired"])
        for id in ["left", "committed", "deleted"] { try await fixture.initialise(id, isSession: true) }
        // What was begun by the other API can be ended as late as one likes.
        try await fixture.initialise("no session")
        _ = try await fixture.store.transactions.commit(
            fixture.key("committed"), ChunkList(files: []), at: fixture.start)
        let (user, now) = (fixture.owner.user, fixture.start)
        try await fixture.store.transactions.update(fixture.key("deleted"), at: now) {
            (transaction) throws(ScribeError) in
            try transaction.archive(by: user, at: now)
        }
        let due = fixture.start + 3600
        #expect(try await fixture.store.transactions.expireSessions(at: due - 1).next == due)
        #expect(try await claim(webhook, at: due) == [])
        #expect(try await fixture.store.transactions.expireSessions(at: due).next == nil)
        #expect(try await fixture.store.transactions.expireSessions(at: due).next == nil)
        let deliveries = try await claim(webhook, at: due)
        #expect(events(deliveries) == [.expired])
        #expect(try await fixture.store.webhooks.deliveries(DeliveryFilter()).map(\.session) == ["left"])
    }

    @Test("an unreadable protocol session is reported, and the other sessions expire")
    func unreadableExpiry() async throws {
        let webhook = try await register(events: ["session.expired"])
        for id in ["broken", "left"] { try await fixture.initialise(id, isSession: true) }
        try await fixture.store.database.write(.none) {
            try $0.run("UPDATE transactions SET request = '{}' WHERE txn_id = 'broken'")
        }
        let due = fixture.start + 3600
        let (next, unreadable) = try await fixture.store.transactions.expireSessions(at: due)
        #expect(next == nil && unreadable == [TransactionID("broken")])
        #expect(try await claim(webhook, at: due).count == 1)
        #expect(try await fixture.store.webhooks.deliveries(DeliveryFilter()).map(\.session) == ["left"])
    }

    @Test("delivered messages are deleted after their time, failed ones after a longer time, pending ones never")
    func forgetting() async throws {
        let webhook = try await register(pauses: [])
        for id in ["heard", "failed", "waiting"] { try await fixture.initialise(id) }
        let deliveries = try await claim(webhook, upTo: 2)
        _ = try await fixture.store.webhooks.settle(deliveries[0], .delivered(signature: "s"), at: fixture.start)
        _ = try await fixture.store.webhooks.settle(deliveries[1], .failed(problem: "no"), at: fixture.start)
        let later = fixture.start + 1
        #expect(
            try await fixture.store.webhooks.forgetDeliveries(
                deliveredBefore: later, failedBefore: fixture.start, saidBefore: later) == 0)
        #expect(try await fixture.store.webhooks.deliveries(DeliveryFilter()).map(\.session) == ["waiting", "failed"])
        #expect(
            try await fixture.store.webhooks.forgetDeliveries(
                deliveredBefore: later, failedBefore: later, saidBefore: later) == 1)
        #expect(try await fixture.store.webhooks.deliveries(DeliveryFilter()).map(\.session) == ["waiting"])
    }

    @Test("the body of a callback is kept until its delivery")
    func callback() async throws {
        let callback = Callback(
            address: "http://receiver/", method: "PUT", request: "r-1", headers: ["a": "b"], body: Data("said".utf8))
        try await fixture.store.webhooks.enqueue(callback, host: "receiver", of: .init("b-1"), at: fixture.start)
        let lane = try #require(try await fixture.store.webhooks.deliveryLanes().first)
        let claim = try await fixture.store.webhooks.claimDeliveries(in: lane, upTo: 1, at: fixture.start)
        guard case .deliveries(let deliveries) = claim else { throw Missing() }
        #expect(deliveries.map(\.content) == [.callback(callback)])
        _ = try await fixture.store.webhooks.settle(deliveries[0], .delivered(signature: nil), at: fixture.start)
        let kept = try await fixture.store.read { try $0.row("SELECT body FROM deliveries")?["body"] as Data? }
        #expect(kept == nil)
        await #expect(throws: ScribeError.self) {
            try await fixture.store.webhooks.replay(deliveries[0].id, at: fixture.start)
        }
    }
}
