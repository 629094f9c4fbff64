import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

extension DeliveryStoreTests {
    @Test("a delivery that was claimed before its registration's removal is not sent after a restart")
    func removedMeanwhile() async throws {
        let webhook = try await register()
        try await fixture.initialise()
        #expect(try await claim(webhook).count == 1)
        #expect(
            try await fixture.store.webhooks.removeWebhook(
                webhook.id, style: .usual, of: .init("b-1"), at: fixture.start))
        try fixture.store.close()
        let store = try fixture.reopened()
        let claim = try await store.webhooks.claimDeliveries(in: "webhook \(webhook.id)", upTo: 1, at: fixture.start)
        guard case .deliveries(let deliveries) = claim else { throw Missing() }
        #expect(deliveries.map(\.isWanted) == [false])
        let end = try await store.webhooks.settle(deliveries[0], .abandoned(problem: "gone"), at: fixture.start)
        #expect(end == .failed)
        let key = try await store.read { try $0.row("SELECT signing_key FROM webhooks")?["signing_key"] as String? }
        #expect(key == nil)
    }

    @Test("the body of a failed callback is deleted before its row")
    func saidAndFailed() async throws {
        let callback = Callback(
            address: "http://receiver/", method: "POST", request: "r-1", headers: [:], body: Data("said".utf8))
        try await fixture.store.webhooks.enqueue(callback, host: "receiver", of: .init("b-1"), at: fixture.start)
        let lane = try #require(try await fixture.store.webhooks.deliveryLanes().first)
        guard
            case .deliveries(let deliveries) = try await fixture.store.webhooks.claimDeliveries(
                in: lane, upTo: 1, at: fixture.start)
        else { throw Missing() }
        _ = try await fixture.store.webhooks.settle(deliveries[0], .abandoned(problem: "no"), at: fixture.start)
        let later = fixture.start + 1
        _ = try await fixture.store.webhooks.forgetDeliveries(
            deliveredBefore: later, failedBefore: fixture.start, saidBefore: later)
        #expect(try await fixture.store.webhooks.deliveries(DeliveryFilter()).map(\.session) == ["r-1"])
        await #expect(throws: ScribeError.self) {
            try await fixture.store.webhooks.replay(deliveries[0].id, at: fixture.start)
        }
    }
}
