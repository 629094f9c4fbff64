import Basics
import Foundation
import GRDB
import Logging
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct SilentConversationsTests {
    private let fixture: UseCaseFixture

    init() throws { fixture = try UseCaseFixture() }

    /// Runs the service while a test takes place.
    private func running(_ test: () async throws -> Void) async throws {
        let service = SilentConversations(
            store: fixture.store, conversations: fixture.conversations, changes: fixture.changes.hub,
            clock: fixture.manual.world, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await service.run() }
        defer { task.cancel() }
        try await test()
    }

    private func say(_ text: String, timeout: Int) async throws -> String {
        let segment = ConversationSegment(id: fixture.identifiers.uuid(.segment), text: text, provider: nil)
        return try await fixture.conversations.add(
            [segment], .init(source: "device", language: "en", timeout: timeout), for: fixture.owner
        ).conversation.id
    }

    private func status(_ id: String) async throws -> Conversation.Status? {
        try await fixture.store.conversations.conversation(id, of: fixture.owner)?.status
    }

    private func waitFor(_ wanted: Conversation.Status, of id: String) async throws {
        while try await status(id) != wanted { await Task.yield() }
    }

    @Test("a silent conversation ends at its timeout without a request", .timeLimit(.minutes(5)))
    func ending() async throws {
        try await running {
            let id = try await say("hello there", timeout: 30)
            try await fixture.manual.waitFor(.conversation)
            fixture.manual.advance(by: .seconds(29))
            #expect(try await status(id) == .inProgress)
            fixture.manual.advance(by: .seconds(1))
            try await waitFor(.completed, of: id)
        }
    }

    @Test("a shorter silence timeout of a conversation takes effect at once", .timeLimit(.minutes(5)))
    func shortening() async throws {
        try await running {
            let id = try await say("hello there", timeout: 14_400)
            try await fixture.manual.waitFor(.conversation)
            #expect(try await say("and again", timeout: 20) == id)
            try await fixture.manual.waitFor(.conversation)
            fixture.manual.advance(by: .seconds(20))
            try await waitFor(.completed, of: id)
        }
    }

    @Test("a silent conversation that cannot be ended is tried again after five seconds", .timeLimit(.minutes(5)))
    func failing() async throws {
        let id = try await say("hello there", timeout: 20)
        try await fixture.store.database.write(.none) { db in
            try db.run(
                TestDatabase.isPostgreSQL
                    ? "ALTER TABLE conversations ADD CONSTRAINT broken CHECK (status = 'in_progress')"
                    : """
                    CREATE TRIGGER broken BEFORE UPDATE OF status ON conversations BEGIN SELECT RAISE(FAIL, 'no'); END
                    """)
        }
        fixture.manual.advance(by: .seconds(20))
        try await running {
            // It sleeps, which it would not do if it tried again at once.
            try await fixture.manual.waitFor(.conversation)
            #expect(try await status(id) == .inProgress)
            try await fixture.store.database.write(.none) {
                try $0.run(
                    TestDatabase.isPostgreSQL
                        ? "ALTER TABLE conversations DROP CONSTRAINT broken" : "DROP TRIGGER broken")
            }
            fixture.manual.advance(by: .seconds(5))
            try await waitFor(.completed, of: id)
        }
    }

    @Test("a conversation whose processing was interrupted is ended after the next start", .timeLimit(.minutes(5)))
    func interrupted() async throws {
        let id = try await say("hello there", timeout: 120)
        #expect(try await fixture.store.conversations.beginProcessing(id, from: .inProgress))
        try await running { try await waitFor(.completed, of: id) }
    }
}
