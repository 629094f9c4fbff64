import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct ConversationPagesTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }
    private var owner: Principal { fixture.owner }

    init() throws { fixture = try StoreFixture() }

    private func begin(_ segments: [ConversationSegment]) async throws {
        let now = fixture.start
        _ = try await store.conversations.begin(
            Conversation(
                id: "c", owner: owner, source: "phone", language: nil, createdAt: now, startedAt: now, finishedAt: now,
                timeout: 120))
        _ = try await store.conversations.addSegments(segments, to: "c", urgency: Urgency(), timeout: 120, at: now)
    }

    private func segment(_ number: Int, _ text: String) -> ConversationSegment {
        ConversationSegment(
            id: "s\(number)", text: text, speaker: "SPEAKER_00", isUser: false, start: 0, end: 0, provider: nil,
            confidence: nil)
    }

    private func pages() async throws -> [[ConversationSegment]] {
        let first = try #require(try await store.conversations.conversationPage("c", of: owner))
        var pages = [first.segments.items]
        var next = first.segments.next
        while let place = next {
            let page = try await store.conversations.segmentPage(of: "c", after: place)
            pages.append(page.items)
            next = page.next
        }
        return pages
    }

    @Test("a conversation's short segments are read in pages, each once and in order")
    func short() async throws {
        let segments = (0..<2000).map { segment($0, "so") }
        try await begin(segments)
        let pages = try await pages()
        #expect(pages.count == 3)
        #expect(pages.flatMap { $0 } == segments)
    }

    @Test("a page of a conversation's long segments holds about 256 KB")
    func long() async throws {
        let segments = (0..<12).map { segment($0, String(repeating: "x", count: 60_000)) }
        try await begin(segments)
        let pages = try await pages()
        #expect(pages.map(\.count) == [5, 5, 2])
        #expect(pages.flatMap { $0 } == segments)
    }

    @Test("a conversation's photo is read in pieces, by its own user only and until it is deleted")
    func photos() async throws {
        try await begin([])
        let base64 = String(repeating: "abcd", count: 100_000)
        #expect(
            try await store.conversations.addPhoto(
                .init(id: "p", base64: base64, createdAt: fixture.start), to: "c", at: fixture.start))
        let page = try #require(try await store.conversations.conversationPage("c", of: owner))
        #expect(page.photos == [PhotoSummary(id: "p", createdAt: fixture.start, size: base64.utf8.count)])
        let first = try #require(try await store.conversations.photoPiece("p", of: "c", from: 0))
        let second = try #require(try await store.conversations.photoPiece("p", of: "c", from: first.utf8.count))
        #expect(first.utf8.count == ConversationStore.pageSize)
        #expect(first + second == base64)
        let stranger = Principal(business: .init("b-2"), user: .init("u"), doctor: .init("d"), client: .init("c"))
        #expect(try await store.conversations.conversationPage("c", of: stranger) == nil)
        #expect(try await store.conversations.photoPiece("q", of: "c", from: 0) == nil)
        #expect(try await store.conversations.segmentPage(of: "none", after: 0).items.isEmpty)
    }
}
