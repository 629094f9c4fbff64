import Foundation
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct ConversationsTests {
    private let fixture: UseCaseFixture
    private var conversations: Conversations { fixture.conversations }
    private var owner: Principal { fixture.owner }

    init() throws { fixture = try UseCaseFixture() }

    /// - Parameter id: the one that is wanted.
    private func beginning(_ id: String? = nil) -> Conversations.NewConversation {
        .init(source: "omi", language: "en", timeout: 120, id: id)
    }

    @discardableResult
    private func say(_ texts: String...) async throws -> Conversations.AddedSegments {
        let segments = texts.map {
            ConversationSegment(id: fixture.identifiers.uuid(.segment), text: $0, provider: nil)
        }
        return try await conversations.add(segments, beginning(), for: owner)
    }

    /// The conversation as it is stored, which the owner can see.
    private func stored(_ id: String) async throws -> Conversation? {
        try await fixture.store.conversations.conversation(id, of: owner)
    }

    // MARK: Beginning

    @Test("a user has one conversation at a time, also when several are begun at once")
    func oneAtATime() async throws {
        let outcome = await atOnce { try await conversations.open(beginning(), for: owner).id }
        #expect(outcome.failures.isEmpty)
        #expect(outcome.values.count == 8 && Set(outcome.values).count == 1)
        let others = try await conversations.open(beginning(), for: fixture.colleague)
        #expect(!outcome.values.contains(others.id))
        #expect(try await fixture.transaction(outcome.values[0]).userStatus == .initialized)
    }

    @Test("a new conversation takes the requested id, unless its user has an open conversation")
    func wantedName() async throws {
        #expect(try await conversations.name("wanted", for: owner) == "wanted")
        let begun = try await conversations.open(beginning("wanted"), for: owner)
        #expect(begun.id == "wanted")
        #expect(try await conversations.name("other", for: owner) == "wanted")
        #expect(try await conversations.open(beginning("other"), for: owner).id == "wanted")
    }

    @Test("the id of a transaction, or of another user's conversation, is not given to a new conversation")
    func takenName() async throws {
        try await fixture.start("transaction")
        #expect(try await conversations.name("transaction", for: owner) != "transaction")
        #expect(try await conversations.open(beginning("transaction"), for: owner).id != "transaction")
        #expect(try await fixture.transaction("transaction").request.mode == "consultation")
        _ = try await conversations.open(beginning("conversation"), for: fixture.stranger)
        let other = try await conversations.open(beginning("conversation"), for: fixture.colleague)
        #expect(other.id != "conversation")
    }

    @Test("a conversation whose transaction is refused does not begin")
    func refused() async throws {
        var quotas = Quotas()
        quotas.openTransactions = 1
        let fixture = try UseCaseFixture(quotas: quotas)
        try await fixture.start()
        await #expect(throws: ScribeError.transactionLimitExceeded) {
            try await fixture.conversations.open(beginning(), for: fixture.owner)
        }
        #expect(try await fixture.store.conversations.conversationInProgress(of: fixture.owner) == nil)
    }

    // MARK: Silence

    @Test("each added segment restarts the silence timeout of its conversation")
    func words() async throws {
        let id = try await say("Hello.").conversation.id
        fixture.manual.advance(by: .seconds(119))
        #expect(try await say("Hello again.").conversation.id == id)
        fixture.manual.advance(by: .seconds(119))
        #expect(try await conversations.current(of: owner)?.id == id)
        fixture.manual.advance(by: .seconds(1))
        #expect(try await conversations.current(of: owner) == nil)
        #expect(try await stored(id)?.status == .completed)
        #expect(try await say("Good morning.").conversation.id != id)
    }

    @Test("an empty conversation is deleted, and its transaction hidden")
    func nothingSaid() async throws {
        let id = try await conversations.open(beginning(), for: owner).id
        fixture.manual.advance(by: .seconds(120))
        #expect(try await conversations.current(of: owner) == nil)
        #expect(try await stored(id) == nil)
        #expect(try await fixture.store.transactions.transaction(fixture.key(id)) == nil)
    }

    @Test("a conversation that reaches its size limit ends, and the next segment begins another")
    func limit() async throws {
        let count = Limits.conversation / 67 + 1
        let long = (0..<count).map { ConversationSegment(id: "\($0)", text: "Ok.", provider: nil) }
        let id = try await conversations.add(long, beginning(), for: owner).conversation.id
        #expect(try await stored(id)?.status == .completed)
        #expect(try await say("More.").conversation.id != id)
    }

    @Test("segments that are added at the same time are all in one conversation")
    func parallelWords() async throws {
        let outcome = await atOnce { try await say("Hello.").conversation.id }
        #expect(Set(outcome.values).count == 1 && outcome.failures.isEmpty)
        #expect(try await fixture.store.conversations.segments(of: outcome.values[0]).count == 8)
    }

    // MARK: Urgency

    @Test("the first emergency raises a conversation's urgency, and each urgent segment is listed")
    func urgency() async throws {
        #expect(try await !say("Good morning.").isMoreUrgent)
        let first = try await say("I slept well.", "I have chest pain since this morning.")
        #expect(first.isMoreUrgent && first.conversation.urgency.level == .emergency)
        #expect(first.urgent == [first.segments[1].id])
        let second = try await say("I can't breathe.")
        #expect(!second.isMoreUrgent && second.urgent.count == 1)
        #expect(try await stored(first.conversation.id)?.urgency.reasons.count == 2)
    }

    @Test("a segment does not reopen a conversation that ended by another device's shorter timeout")
    func shorterTimeout() async throws {
        let stale = try await say("good morning").conversation
        var short = beginning()
        short.timeout = 60
        let segment = ConversationSegment(id: fixture.identifiers.uuid(.segment), text: "hello", provider: nil)
        _ = try await conversations.add([segment], short, for: owner)
        fixture.manual.advance(by: .seconds(90))
        let late = ConversationSegment(id: fixture.identifiers.uuid(.segment), text: "next patient", provider: nil)
        let added = try await conversations.add([late], beginning(), to: stale, for: owner)
        #expect(added.conversation.id != stale.id)
        #expect(try await stored(stale.id)?.status == .completed)
    }

    @Test("reprocessing writes the note that had no room when the conversation was first processed")
    func roomLater() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 10
        let small = try UseCaseFixture(quotas: quotas)
        let segment = ConversationSegment(
            id: small.identifiers.uuid(.segment), text: "I have had a fever for three days", provider: nil)
        let begun = try await small.conversations.add([segment], beginning(), for: small.owner).conversation
        let completed = try #require(try await small.conversations.endCurrent(of: small.owner))
        #expect(try await small.transaction(begun.id).userStatus == .initialized)
        // Still no room: the transaction is neither committed without its words nor cancelled.
        _ = try await small.conversations.reprocess(completed)
        #expect(try await small.transaction(begun.id).userStatus == .initialized)
    }

    @Test("an answer is read with the question stored before it")
    func answer() async throws {
        #expect(try await say("Any chest pain?").urgent.isEmpty)
        let answer = try await say("Yes, since this morning.")
        #expect(answer.isMoreUrgent && answer.urgent == [answer.segments[0].id])
    }

    // MARK: What is made of it

    @Test("processing a conversation stores its transcript, commits its transaction and saves memories")
    func transcript() async throws {
        let conversation = try await say("I am allergic to penicillin.", "I have a cough.").conversation
        let completed = try #require(try await conversations.process(conversation))
        #expect(completed.status == .completed && completed.summary.category == "health")
        let documents = try await fixture.documents(conversation.id)
        #expect(documents.map(\.value) == ["I am allergic to penicillin. I have a cough.", nil])
        #expect(try await fixture.transaction(conversation.id).userStatus == .committed)
        let memories = try await fixture.store.conversations.memories(of: owner, categories: nil, offset: 0, limit: 10)
        #expect(Set(memories.map(\.conversation)) == [conversation.id])
    }

    @Test("processing a conversation does not add a known memory again")
    func memories() async throws {
        var counts: [Int] = []
        for _ in 0..<2 {
            let conversation = try await say("I am allergic to penicillin.").conversation
            _ = try await conversations.process(conversation)
            counts.append(
                try await fixture.store.conversations.memories(of: owner, categories: nil, offset: 0, limit: 10).count)
        }
        #expect(counts[0] > 0 && counts[1] == counts[0])
    }

    @Test("only one of several concurrent calls processes a conversation")
    func parallelProcessing() async throws {
        let conversation = try await say("Hello.").conversation
        let outcome = await atOnce { try await conversations.process(conversation) }
        #expect(outcome.failures.isEmpty)
        #expect(outcome.values.compactMap(\.self).map(\.status) == [.completed])
        #expect(try await conversations.process(conversation) == nil)
    }

    @Test("interrupted processing of a conversation is repeated")
    func interrupted() async throws {
        let id = try await say("Hello.").conversation.id
        #expect(try await fixture.store.conversations.beginProcessing(id, from: .inProgress))
        let conversation = try #require(try await stored(id))
        #expect(try await conversations.process(conversation)?.status == .completed)
        #expect(try await conversations.process(conversation) == nil)
    }

    @Test("a conversation is completed even if its transaction was cancelled, which stays cancelled")
    func cancelledTransaction() async throws {
        let conversation = try await say("Hello.").conversation
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await fixture.transactions.patch(conversation.key, patch)
        #expect(try await conversations.process(conversation)?.status == .completed)
        #expect(try await fixture.transaction(conversation.id).userStatus == .cancelled)
        #expect(try await fixture.documents(conversation.id)[0].value == nil)
    }

    @Test("a user's title survives processing of the conversation and is replaced by reprocessing")
    func title() async throws {
        let conversation = try await say("I have a cough.").conversation
        try await fixture.store.conversations.setTitle("Mine", of: conversation.id)
        let completed = try #require(try await conversations.process(conversation))
        #expect(completed.summary.title == "Mine")
        let anew = try await conversations.reprocess(completed)
        #expect(anew.summary.title != "Mine" && !anew.summary.title.isEmpty)
    }

    @Test("forgetting a conversation hides its transaction, and may be repeated")
    func forgotten() async throws {
        let conversation = try await say("Hello.").conversation
        try await conversations.hideTransaction(conversation)
        #expect(try await fixture.store.transactions.transaction(conversation.key) == nil)
        try await conversations.hideTransaction(conversation)
    }

    // MARK: Pictures

    @Test("a conversation keeps at most eight megabytes of pictures")
    func pictures() async throws {
        let half = String(repeating: "a", count: Limits.allPhotos / 2)
        let first = try #require(try await conversations.add(half, beginning(), for: owner))
        #expect(try await conversations.add(half, beginning(), for: owner) != nil)
        #expect(try await conversations.add("a", beginning(), for: owner) == nil)
        let id = try #require(try await conversations.current(of: owner)).id
        let photos = try await fixture.store.conversations.photos(of: id)
        #expect(photos.count == 2 && photos[0].id == first.id)
    }

    @Test("a conversation with pictures only cancels its transaction at its end")
    func picturesAlone() async throws {
        _ = try await conversations.add("a", beginning(), for: owner)
        let completed = try #require(try await conversations.endCurrent(of: owner))
        #expect(completed.status == .completed)
        #expect(try await fixture.transaction(completed.id).userStatus == .cancelled, "it has no audio")
        #expect(try await conversations.endCurrent(of: owner) == nil)
    }

    @Test("a picture beyond the storage of its business is dropped, and the conversation goes on")
    func pictureBeyondQuota() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 100
        let fixture = try UseCaseFixture(quotas: quotas)
        let large = String(repeating: "a", count: 101)
        #expect(try await fixture.conversations.add(large, beginning(), for: fixture.owner) == nil)
        #expect(try await fixture.conversations.add("a", beginning(), for: fixture.owner) != nil)
        #expect(try await fixture.conversations.current(of: fixture.owner) != nil)
    }
}
