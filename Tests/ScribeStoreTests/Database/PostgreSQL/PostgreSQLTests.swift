import Foundation
import GRDB
import ObjectStorage
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

/// What only a store in PostgreSQL has. `make scale-test` runs them, with all other tests of the store.
struct PostgreSQLTests {
    @Test(
        "the URL of a database names its schema, and its text for people has no password",
        arguments: [
            ("postgres://u:secret@db.example:6432/scribe?schema=s_1&sslmode=require", "s_1", "db.example:6432/scribe"),
            ("postgresql:///scribe", "scribe", ":5432/scribe"),
        ])
    func address(text: String, schema: String, shown: String) throws {
        let address = try #require(PostgreSQLAddress(text))
        #expect(address.schema == schema && address.shown == shown)
        #expect(!address.url.contains("schema="))
    }

    @Test(
        "a text of another form, or with a schema that is no plain name, is no address of a database",
        arguments: ["", "mysql://h/d", "h/d", "postgres://h/d?schema=a;b", "postgres://h/d?schema="])
    func noAddress(text: String) { #expect(PostgreSQLAddress(text) == nil) }

    @Test(
        "placeholders of SQLite become those of PostgreSQL, but not within quotes",
        arguments: [
            ("SELECT ?, ?", "SELECT $1, $2", 2), ("SELECT ?2, ?1, ?2", "SELECT $2, $1, $2", 2),
            ("SELECT '?', \"?\", ?", "SELECT '?', \"?\", $1", 1), ("SELECT ?3, ?", "SELECT $3, $4", 4),
            ("SELECT 1", "SELECT 1", 0),
        ])
    func placeholders(text: String, sql: String, count: Int) {
        let statement = PostgreSQLStatement.of(text)
        #expect(statement.sql == sql && statement.parameterCount == count)
    }

    // MARK: With a server

    @Test(
        "removed objects are rows, which wait for their time and are forgotten",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func removals() async throws {
        let store = try StoreFixture().store
        let now = Date(timeIntervalSince1970: 1_778_404_353)
        for _ in 0..<2 { try await store.audio.addRemovals(of: ["a", "b"], at: now) }
        try await store.audio.addRemovals(of: ["b", "c"], at: now + 60)
        #expect(try await store.audio.removals(before: now - 1).isEmpty)
        #expect(try await store.audio.removals(before: now).sorted() == ["a", "b"])
        try await store.audio.forgetRemovals(of: ["a", "b"])
        #expect(try await store.audio.removals(before: now + 60) == ["c"])
    }

    @Test(
        "PostgreSQL counts the rows that a write has changed, for its autovacuum",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func counts() async throws {
        let fixture = try StoreFixture()
        // A process of PostgreSQL reports at most once a second.
        let isCounted = "SELECT 1 AS one WHERE pg_stat_get_tuples_inserted(CAST('transactions' AS regclass)) > 0"
        var writes = 0
        while try await fixture.store.database.read({ try $0.row(isCounted) == nil }), writes < 10_000 {
            try await fixture.initialise("t-\(writes)")
            writes += 1
        }
        #expect(writes < 10_000)
    }

    @Test(
        "after a hundred writes, PostgreSQL looks transactions of a new schema up by their own index",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func statistics() async throws {
        let fixture = try StoreFixture()
        let database = fixture.store.database
        for number in 0..<100 { try await fixture.initialise("t-\(number)") }
        // They are gathered on a thread, after the hundredth write.
        var plan = ""
        var questions = 0
        while !plan.contains("transactions_business_id_txn_id_key"), questions < 10_000 {
            plan = try await database.read { db in
                let rows = try db.rows(
                    "EXPLAIN SELECT * FROM transactions WHERE business_id = 'b-1' AND txn_id = 't-1'")
                return rows.map { $0["QUERY PLAN"] as String }.joined(separator: "; ")
            }
            questions += 1
        }
        #expect(questions < 10_000, "\(plan)")
    }

    @Test(
        "a session whose end is being stored does not expire too",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func ended() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        _ = try await store.webhooks.register(
            WebhookDraft(style: .usual, endpoint: .address("http://receiver/"), signingKey: nil, scheme: "http"),
            for: fixture.owner, pauses: [], at: fixture.start)
        try await fixture.initialise(isSession: true)
        let late = fixture.start.addingTimeInterval(TestSessionPolicy.time.length)
        #expect(try await store.work.dueWork(at: late).sessions == 1)
        let (beginnings, beginning) = AsyncStream.makeStream(of: Void.self)
        async let end: Void = store.database.write(.transaction(fixture.key())) { db in
            try db.run("UPDATE transactions SET expires_at = NULL")
            _ = try db.rows("SELECT 1")
            beginning.yield()
            // Long enough for the expiry to find the row as it was; it waits however long this takes.
            _ = try db.rows("SELECT pg_sleep(0.3)")
        }
        for await _ in beginnings { break }
        _ = try await store.transactions.expireSessions(at: late)
        try await end
        let events = try await store.read { try $0.rows("SELECT event FROM deliveries").map { $0["event"] as String } }
        #expect(!events.contains("expired"))
    }

    @Test(
        "of many writes of one transaction at once each sees the ones before it",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func serial() async throws {
        let fixture = try StoreFixture()
        let (store, key) = (fixture.store, fixture.key())
        try await fixture.initialise()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await store.database.write(.transaction(key)) { db in
                        let row = try db.row("SELECT generation FROM transactions WHERE txn_id = ?", [key.id.rawValue])
                        let before = row?["generation"] as Int? ?? 0
                        try db.run(
                            "UPDATE transactions SET generation = ? WHERE txn_id = ?", [before + 1, key.id.rawValue])
                    }
                }
            }
            try await group.waitForAll()
        }
        let row = try await store.read { try $0.row("SELECT generation FROM transactions") }
        #expect(row?["generation"] as Int? == 40)
    }

    @Test(
        "a write of a lane waits for a write of all deliveries, and sees what it has stored",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func lanes() async throws {
        let fixture = try StoreFixture()
        let database = fixture.store.database
        let (beginnings, beginning) = AsyncStream.makeStream(of: Void.self)
        async let all: Void = database.write(.deliveries) { db in
            beginning.yield()
            // Long enough for the other write to begin; it waits however long this takes.
            _ = try db.rows("SELECT pg_sleep(0.3)")
            try db.run("INSERT INTO leases (name, owner, lease_until) VALUES ('all', 'deliveries', 1)")
        }
        for await _ in beginnings { break }
        let found = try await database.write(.lane("webhook 1")) { try $0.rows("SELECT 1 FROM leases").count }
        try await all
        #expect(found == 1)
    }

    @Test(
        "two equal inserts at once are one row, and the second finds it",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func races() async throws {
        let fixture = try StoreFixture()
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    if case .created = try await fixture.initialise("same") { return true }
                    return false
                }
            }
            return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(answers == 1)
    }

    @Test(
        "the stored bytes of a business are counted over all connections",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func stored() async throws {
        let fixture = try StoreFixture()
        let business = fixture.owner.business
        try await fixture.initialise()
        let before = try await fixture.store.audio.storedBytes(of: business)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 { group.addTask { _ = try await fixture.replace("\(number).m4a") } }
            try await group.waitForAll()
        }
        #expect(try await fixture.store.audio.storedBytes(of: business) == before + 16)
        let slots = try await fixture.store.read { try $0.rows("SELECT slot FROM storage").count }
        #expect(slots > 1)
    }

    @Test(
        "a text with U+0000 in a list is looked for as U+FFFD, and a text that is too long for an index is refused",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func texts() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.store.audio.unusedFiles(among: ["a\0b"]) == ["a\u{FFFD}b"])
        var random = SystemRandomNumberGenerator()
        // PostgreSQL compresses a text of few different characters.
        let name = String((0..<4000).map { _ in Character(UnicodeScalar(UInt8.random(in: 65...122, using: &random))) })
        await #expect {
            try await fixture.put(name)
        } throws: {
            if case .invalidRequest(_, let problem) = $0 as? ScribeError { problem.contains("2,704") } else { false }
        }
    }

    @Test(
        "a text with U+0000 and bytes of any value are read back",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func values() async throws {
        let fixture = try StoreFixture()
        let bytes = Data((0...255).map { UInt8($0) })
        let row = try await fixture.store.database.write(.none) { db in
            try db.row(
                "SELECT CAST(? AS TEXT) AS text, CAST(? AS BYTEA) AS bytes, CAST(? AS DOUBLE PRECISION) AS real, CAST(? AS TEXT) AS empty",
                ["a\0b", bytes, 0.1, ""])
        }
        #expect(row?["text"] as String? == "a\u{FFFD}b" && row?["bytes"] as Data? == bytes)
        #expect(row?["real"] as Double? == 0.1 && row?["empty"] as String? == "")
    }

    @Test(
        "a machine whose clock differs from that of PostgreSQL by more than a minute is refused",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func clocks() async throws {
        let fixture = try StoreFixture()
        await #expect(throws: Store.Problem.self) {
            try await fixture.store.requireMachineTime(near: Date(timeIntervalSince1970: 0))
        }
    }

    @Test(
        "after a refused statement the connection takes others, and nothing of the write stays",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func refusals() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<20 {
            await #expect(throws: PostgreSQLError.refused(state: "22P02")) {
                try await fixture.store.database.write(.none) { db in
                    try db.run("INSERT INTO leases (name, owner, lease_until) VALUES ('a', 'b', 1)")
                    try db.run("UPDATE leases SET lease_until = CAST(? AS BIGINT)", ["no number"])
                    try db.run("UPDATE leases SET owner = ?", ["later"])
                }
            }
        }
        #expect(try await fixture.store.read { try $0.rows("SELECT 1 FROM leases").isEmpty })
    }
}
