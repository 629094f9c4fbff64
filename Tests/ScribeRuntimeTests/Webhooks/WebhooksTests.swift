import Basics
import Engines
import Foundation
import Outbound
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct WebhooksTests {
    /// Thrown when a registration is refused.
    private struct NotRegistered: Error {}

    private let fixture: UseCaseFixture
    private var webhooks: Webhooks { fixture.webhooks }
    private var owner: Principal { fixture.owner }

    init() throws {
        fixture = try UseCaseFixture(addresses: ["receiver.test": "8.8.8.8", "inside.test": "10.1.2.3"])
    }

    @discardableResult
    private func register(
        _ endpoint: String = "inbox", _ style: Webhook.Style = .usual, events: [String] = [], key: String? = nil,
        for principal: Principal? = nil
    ) async throws -> Registration {
        let draft = WebhookDraft(
            style: style, endpoint: Webhook.Endpoint(endpoint), events: events, signingKey: key, scheme: "https")
        return try await webhooks.register(
            draft, for: principal ?? owner, called: (endpoint: "callback_url", events: "event_names", key: "secret"))
    }

    private func registered(
        _ style: Webhook.Style = .usual, events: [String] = [], key: String? = nil
    ) async throws -> Webhook {
        guard case .registered(let webhook) = try await register("inbox", style, events: events, key: key) else {
            throw NotRegistered()
        }
        return webhook
    }

    /// Claims what is due for a registration and ends it.
    private func settle(_ webhook: Webhook, _ outcome: DeliveryOutcome) async throws {
        let claim = try await fixture.store.webhooks.claimDeliveries(
            in: "webhook \(webhook.id)", upTo: 10, at: fixture.manual.now)
        guard case .deliveries(let deliveries) = claim else { return }
        for delivery in deliveries {
            _ = try await fixture.store.webhooks.settle(delivery, outcome, at: fixture.manual.now)
        }
    }

    // MARK: Registration

    @Test(
        "a forbidden webhook endpoint is refused, with the client's name of the field",
        arguments: [
            ("https://receiver.test/#here", "must hold no fragment"), ("ftp://receiver.test/", "must be http or https"),
            ("https://inside.test/", "leads to where this server may not be sent"),
            ("https://169.254.169.254/", "leads to where this server may not be sent"),
            ("https://unknown.test/", "names a host that nobody knows"),
            ("https://receiver.test:22/", "names the port of another service"),
        ])
    func refusedEndpoint(endpoint: String, problem: String) async throws {
        await #expect(throws: ScribeError.invalidRequest(field: "callback_url", problem: problem)) {
            try await register(endpoint)
        }
        #expect(try await fixture.store.webhooks.all(of: nil).isEmpty)
    }

    @Test("a webhook host name that takes more than ten seconds to resolve is refused")
    func slowName() async throws {
        try await withinTheTimeOfATest {
            let registering = Task { try await register("https://slow.test/") }
            try await fixture.manual.waitFor(.timeLimit, .upstream)
            fixture.manual.advance(by: .seconds(10))
            let refusal = ScribeError.invalidRequest(
                field: "callback_url", problem: "names a host that nobody knows")
            await #expect(throws: refusal) { try await registering.value }
        }
    }

    @Test(
        "a registration with an invalid event name is refused",
        arguments: ["", "with space", "line\nbreak", "é", String(repeating: "a", count: Limits.webhookEvent + 1)])
    func refusedEvent(event: String) async throws {
        let refusal = ScribeError.invalidRequest(
            field: "event_names", problem: "must hold names such as session.completed")
        await #expect(throws: refusal) { try await register(events: ["session.completed", event]) }
    }

    @Test("a registration names at most fifty events")
    func maxEvents() async throws {
        let events = (0..<Limits.webhookEvents).map { "event.\($0)" }
        #expect(try await registered(events: events).events == events)
        let refusal = ScribeError.invalidRequest(field: "event_names", problem: "must have at most 50 items")
        await #expect(throws: refusal) { try await register(events: events + ["one.more"]) }
    }

    @Test(
        "a webhook signing key is a text of one line within its limit",
        arguments: [
            ("", "must be a text without line breaks"), ("a\nb", "must be a text without line breaks"),
            (String(repeating: "a", count: Limits.signingKey + 1), "must have at most 1024 bytes"),
        ])
    func refusedKey(key: String, problem: String) async throws {
        await #expect(throws: ScribeError.invalidRequest(field: "secret", problem: problem)) {
            try await register(key: key)
        }
    }

    @Test("a style with unique endpoints refuses a second registration of an endpoint in one business")
    func duplicates() async throws {
        let endpoint = "https://receiver.test/hook"
        try await register(endpoint, .once)
        #expect(try await register(endpoint, .once) == .duplicate)
        for _ in 0..<2 { try await register(endpoint, .usual) }
        try await register(endpoint, .once, for: fixture.stranger)
        #expect(try await fixture.store.webhooks.all(.once, of: owner.business).count == 1)
        #expect(try await fixture.store.webhooks.all(.usual, of: owner.business).count == 2)
        #expect(try await fixture.store.webhooks.deliveryCounts().webhooks == 4)
    }

    @Test("a business has at most a hundred registrations, and a removal makes room")
    func maxRegistrations() async throws {
        for _ in 1..<Limits.webhooks { try await register() }
        let last = try await registered()
        #expect(try await register() == .tooMany)
        #expect(try await register("inbox", .once) == .tooMany, "whatever the style")
        #expect(try await webhooks.remove(last.id, .usual, of: owner.business))
        _ = try await registered()
    }

    @Test("a registration is removed by its own business only, in its style, and once")
    func removal() async throws {
        let webhook = try await registered()
        #expect(try await !webhooks.remove(webhook.id, .once, of: owner.business))
        #expect(try await !webhooks.remove(webhook.id, .usual, of: fixture.stranger.business))
        #expect(try await webhooks.remove(webhook.id, .usual, of: owner.business))
        #expect(try await !webhooks.remove(webhook.id, .usual, of: owner.business))
    }

    // MARK: Deliveries

    @Test("deliveries pending for a removed registration fail and are not replayed")
    func removedWithDeliveries() async throws {
        let webhook = try await registered()
        try await fixture.start()
        #expect(try await webhooks.remove(webhook.id, .usual, of: owner.business))
        try await fixture.transactions.commit(fixture.key(), ChunkList(files: []))
        let deliveries = try await fixture.store.webhooks.deliveries(DeliveryFilter())
        #expect(deliveries.map(\.event) == ["session.started"])
        let delivery = try #require(deliveries.first)
        #expect(delivery.state == .failed && delivery.problem == "the registration was removed")
        await #expect(throws: ScribeError.invalidState("Its receiver is registered no more")) {
            try await fixture.store.webhooks.replay(delivery.id, at: fixture.manual.now)
        }
        #expect(try await fixture.store.webhooks.replayFailed(of: nil, at: fixture.manual.now) == 0)
    }

    @Test("a settled delivery is replayed from its first attempt, and a pending one is not")
    func replay() async throws {
        let webhook = try await registered()
        let made = try #require(try await webhooks.test(webhook.id))
        await #expect(throws: ScribeError.invalidState("It is still on its way")) {
            try await fixture.store.webhooks.replay(made.id, at: fixture.manual.now)
        }
        try await settle(webhook, .abandoned(problem: "gone"))
        #expect(try await fixture.store.webhooks.deliveryCounts().failed == 1)
        let replayed = try #require(
            try await fixture.store.webhooks.replay(made.id, at: fixture.manual.now))
        #expect(replayed.state == .pending && replayed.attempts == 0)
        #expect(try await fixture.store.webhooks.deliveryCounts().failed == 0)
        #expect(try await fixture.store.webhooks.replay(made.id + 1, at: fixture.manual.now) == nil)
    }

    @Test("failed deliveries are replayed for one registration, or for all")
    func replayFailed() async throws {
        let (first, second) = (try await registered(), try await registered())
        for webhook in [first, first, second] { _ = try await webhooks.test(webhook.id) }
        for webhook in [first, second] { try await settle(webhook, .abandoned(problem: "gone")) }
        #expect(try await fixture.store.webhooks.replayFailed(of: second.id, at: fixture.manual.now) == 1)
        #expect(try await fixture.store.webhooks.deliveryCounts().failed == 2)
        #expect(try await fixture.store.webhooks.replayFailed(of: nil, at: fixture.manual.now) == 2)
    }

    @Test("a test delivery sends an event of the registration, and is refused if it has no known event")
    func test() async throws {
        let connect = try await registered(.once)
        #expect(try await webhooks.test(connect.id)?.event == "v2rx.completed")
        let alliance = try await registered(events: ["session.failed"])
        #expect(try await webhooks.test(alliance.id)?.kind == .failed)
        let idle = try await registered(events: ["session.cancelled"])
        await #expect(throws: ScribeError.invalidState("The webhook subscribes to no event of this server")) {
            try await webhooks.test(idle.id)
        }
        #expect(try await webhooks.test(idle.id + 1) == nil)
    }

    @Test("a webhook message has its format's body and signature, and a callback has no signature")
    func message() async throws {
        let webhook = try await registered(key: "secret")
        try await fixture.start("visit")
        try await settle(webhook, .delivered(signature: "signed"))
        let record = try #require(try await fixture.store.webhooks.deliveries(DeliveryFilter()).first)
        let message = try #require(webhooks.message(of: record))
        #expect(message.body == Data("started visit".utf8))
        #expect(message.headers.map { "\($0.name): \($0.value)" } == ["x-signature: signed"])
        let address = try OutboundURL("https://receiver.test/called")
        let callback = Callback(address: address.url, method: "PUT", request: "r", headers: [:], body: Data("x".utf8))
        try await webhooks.sendCallback(callback, at: address, of: owner.business)
        let told = try #require(try await fixture.store.webhooks.deliveries(DeliveryFilter(session: "r")).first)
        #expect(told.endpoint == address.url && told.event == "callback")
        #expect(webhooks.message(of: told) == nil)
    }
}
