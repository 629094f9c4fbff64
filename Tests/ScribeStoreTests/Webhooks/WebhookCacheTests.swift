import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct WebhookCacheTests {
    private let business = BusinessID("b-1")

    private func read(_ cache: WebhookCache) throws -> Bool {
        var wasRead = false
        _ = try cache.webhooks(of: business) {
            wasRead = true
            return []
        }
        return wasRead
    }

    @Test("webhooks are read once, until a registration begins")
    func once() async throws {
        let cache = WebhookCache()
        #expect(try read(cache))
        #expect(try !read(cache))
        await cache.changing {}
        #expect(try read(cache))
    }

    @Test("nothing is kept while a registration may still be rolled back, even if it fails")
    func during() async throws {
        struct Failure: Error {}
        let cache = WebhookCache()
        await #expect(throws: Failure.self) {
            try await cache.changing {
                #expect(try read(cache))
                #expect(try read(cache))
                throw Failure()
            }
        }
        #expect(try read(cache))
        #expect(try !read(cache))
    }

    @Test("a write that follows a registration notifies it, and one that follows its removal does not")
    func registered() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        func deliveries() async throws -> Int {
            try await store.read { try $0.row("SELECT count(*) AS count FROM deliveries")?["count"] ?? 0 }
        }
        try await fixture.initialise("first")
        #expect(try await deliveries() == 0)
        let registration = try await store.webhooks.register(
            WebhookDraft(style: .usual, endpoint: .address("http://receiver/"), signingKey: nil, scheme: "http"),
            for: fixture.owner, pauses: [], at: fixture.start)
        guard case .registered(let webhook) = registration else {
            Issue.record("\(registration)")
            return
        }
        try await fixture.initialise("second")
        let raised = try await deliveries()
        #expect(raised > 0)
        #expect(try await store.webhooks.setPaused(true, ofWebhook: webhook.id)?.isPaused == true)
        try await fixture.initialise("paused")
        #expect(try await deliveries() == raised)
        #expect(try await store.webhooks.setPaused(false, ofWebhook: webhook.id)?.isPaused == false)
        #expect(try await store.webhooks.setPaused(true, ofWebhook: webhook.id + 1) == nil)
        _ = try await store.webhooks.removeWebhook(
            webhook.id, style: .usual, of: fixture.owner.business, at: fixture.start)
        try await fixture.initialise("third")
        #expect(try await deliveries() == raised)
    }
}
