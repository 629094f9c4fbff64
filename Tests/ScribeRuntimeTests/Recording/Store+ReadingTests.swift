import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

/// Every query of a business's data leaves out what other businesses have under the same names.
struct StoreReadingTests {
    private let fixture: UseCaseFixture
    private var store: Store { fixture.store }
    private var owner: Principal { fixture.owner }
    private var stranger: Principal { fixture.stranger }

    init() throws { fixture = try UseCaseFixture() }

    @Test("queries of transactions, files and feedback return those of one business only")
    func recordings() async throws {
        try await fixture.start()
        try await fixture.upload("1.wav")
        let transaction = try #require(try await store.transactions.transaction(fixture.key()))
        #expect(try await store.audio.fileNames(of: transaction) == ["1.wav"])
        #expect(
            try await store.documents.startTimes(of: ["t", "unknown"], in: owner.business)
                == ["t": transaction.createdAt])
        #expect(try await store.documents.startTimes(of: ["t"], in: stranger.business).isEmpty)
        #expect(try await store.transactions.transaction(fixture.key(of: stranger)) == nil)
        #expect(try await store.transactions.results(of: fixture.key(of: stranger))?.transaction == nil)
        await #expect(throws: ScribeError.transactionNotFound) {
            try await store.documents.feedback(on: fixture.key(of: stranger))
        }
    }

    @Test("queries of documents return those of one business only")
    func documents() async throws {
        try await fixture.start()
        let id = try await fixture.documents()[0].id
        #expect(try await store.documents.document(id, of: owner.business)?.transaction == TransactionID("t"))
        #expect(try await store.documents.document(id, of: stranger.business) == nil)
        #expect(try await store.documents.session(fixture.key())?.documents.count == fixture.documents().count)
        #expect(try await store.documents.session(fixture.key(of: stranger))?.transaction == nil)
    }

    @Test("queries of registrations return those of a style and business, or all of them")
    func webhooks() async throws {
        for (style, principal) in [(Webhook.Style.usual, owner), (.once, owner), (.usual, stranger)] {
            _ = try await fixture.webhooks.register(
                WebhookDraft(style: style, endpoint: .inbox, signingKey: nil), for: principal,
                called: (endpoint: "endpoint", events: "events", key: "key"))
        }
        #expect(try await store.webhooks.all(of: nil).count == 3)
        #expect(
            try await store.webhooks.all(.usual, of: owner.business).map(\.business) == [owner.business])
        try await fixture.start()
        let found = try await store.webhooks.deliveries(DeliveryFilter(business: owner.business))
        #expect(found.map(\.event) == ["session.started"])
        #expect(try await store.webhooks.deliveries(DeliveryFilter(business: stranger.business)).isEmpty)
        #expect(try await store.webhooks.delivery(found[0].id) == found[0])
        #expect(try await store.webhooks.deliveryCounts().pending == 1)
    }

    @Test("objects are found by their keys, in order, unless one is missing")
    func objectsByKeys() async throws {
        try await fixture.start()
        for number in 1...5 { try await fixture.upload("\(number).wav") }
        let place = try #require(try await store.transactions.transaction(fixture.key())?.request.audioLocation)
        func found(_ names: [String]) async throws -> [String]? {
            try await store.audio.objects(
                business: owner.business, bucket: place.bucket, keys: names.map { place.key(ofFile: $0) })?
                .map { String($0.key.suffix(5)) }
        }
        #expect(try await found(["1.wav", "3.wav", "4.wav"]) == ["1.wav", "3.wav", "4.wav"])
        #expect(try await found([]) == [])
        for missing in [["0.wav", "1.wav"], ["1.wav", "2.mp3", "3.wav"], ["4.wav", "9.wav"]] {
            #expect(try await found(missing) == nil)
        }
    }

    @Test("queries of templates and objects return those of one business only")
    func templatesAndObjects() async throws {
        let own = CustomTemplate(id: .init("own"), title: "Ward Round", summary: nil, sectionIDs: [])
        try await fixture.store.templates.addTemplate(own, to: owner.business, at: fixture.manual.now)
        #expect(try await store.templates.all(of: owner.business) == [own])
        #expect(try await store.templates.template(own.id, of: stranger.business) == nil)
        try await fixture.start()
        try await fixture.upload("1.wav")
        let key = fixture.location().key(ofFile: "1.wav")
        #expect(try await store.audio.object(business: owner.business, bucket: "bucket", key: key)?.key == key)
        #expect(try await store.audio.object(business: stranger.business, bucket: "bucket", key: key) == nil)
        #expect(try await store.audio.buckets(business: owner.business).map(\.name) == ["bucket"])
    }

    @Test("a query of a conversation finds it for its own user only")
    func conversations() async throws {
        let begun = try await fixture.conversations.open(
            .init(source: "omi", language: "en", timeout: 120), for: owner)
        #expect(try await store.conversations.conversationPage(begun.id, of: owner)?.conversation.id == begun.id)
        for other in [fixture.colleague, stranger] {
            #expect(try await store.conversations.conversation(begun.id, of: other) == nil)
        }
        #expect(try await store.conversations.isEmptyConversation(begun.id))
    }
}
