import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import ScribeStore

/// What prepared statements keep.
struct SQLiteSessionTests {
    private static let secret = "Asha Rao has a cough"

    /// The statements of a connection with the values that are bound to them.
    private func statements(_ db: Database) -> [String] {
        var (found, statement) = ([String](), sqlite3_next_stmt(db.sqliteConnection, nil))
        while let handle = statement {
            if let text = sqlite3_expanded_sql(handle) {
                found.append(String(cString: text))
                sqlite3_free(text)
            }
            statement = sqlite3_next_stmt(db.sqliteConnection, handle)
        }
        return found
    }

    @Test("no prepared statement keeps a value after it has run, been refused, or failed to bind")
    func bindings() async throws {
        let fixture = try StoreFixture(onSQLite: true)
        let store = fixture.store
        // Before all else, because it empties the cache of statements.
        try await store.sqlite.writes.write { try $0.execute(sql: "CREATE TABLE secrets_of_test (a, b)") }
        try await fixture.initialise(Self.secret)
        try await fixture.put(Self.secret)
        _ = try await store.transactions.transaction(fixture.key(Self.secret))
        _ = try await store.audio.unusedFiles(among: [Self.secret])
        try await store.sqlite.writes.write { db in
            try db.writing.run(
                "INSERT INTO secrets_of_test VALUES (?, ?)", [Self.secret, Data(Self.secret.utf8)])
        }
        await #expect(throws: (any Error).self) {
            try await store.sqlite.writes.write { db in
                try db.writing.run(
                    "INSERT INTO leases (name, owner, lease_until) VALUES (?, ?, NULL)", ["n", Self.secret])
            }
        }
        let written = try await store.sqlite.pool.writeWithoutTransaction { statements($0) }
        let read = try await store.sqlite.pool.read { statements($0) }
        #expect(written.count > 5)
        let hex = Data(Self.secret.utf8).map { String(format: "%02x", $0) }.joined()
        #expect(!(written + read).contains { $0.contains(Self.secret) || $0.contains(hex) })
    }

    @Test("the running jobs of a process, and of those without a lease, are found by an index")
    func runningJobs() async throws {
        let fixture = try StoreFixture(onSQLite: true)
        for condition in ["owner = 'a'", "owner NOT IN (SELECT owner FROM leases)"] {
            let plan = try await fixture.store.read { db in
                try db.rows("EXPLAIN QUERY PLAN UPDATE jobs SET attempts = 0 WHERE state = 'running' AND \(condition)")
                    .map { $0["detail"] as String }
            }
            #expect(plan.contains { $0.contains("jobs_running") }, "\(plan)")
        }
    }
}
