import Basics
import Foundation
import GRDB
import ObjectStorage
import TestSupport
import Testing

@testable import ScribeStore

struct SchemaTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/scribe.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    /// Runs statements in the file, as another program does.
    private func execute(_ statements: [String]) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in for sql in statements { try db.execute(sql: sql) } }
        try queue.close()
    }

    /// Opens the file as the server does, and reads what it says then.
    private func opened<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
        let store = try Store(at: .file(path, .normal))
        defer { try? store.close() }
        return try store.pool.write(body)
    }

    private static let cutOffStarts: [[String]] = [[], ["CREATE TABLE gone (x)", "DROP TABLE gone"]]

    /// A file of version 1, whatever versions follow it.
    private static func makeVersion1(_ queue: DatabaseQueue) throws {
        try SQLiteSchema.prepare(queue, migrations: [])
        #expect(try version(of: queue) == 1)
    }

    private static func version(of queue: DatabaseQueue) throws -> Int? {
        try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
    }

    /// Migrations as later versions may have them: one adds to a table, one makes a table anew.
    private static let migrations = [
        "ALTER TABLE feedback ADD COLUMN note TEXT NOT NULL DEFAULT 'none'",
        """
        CREATE TABLE leases_3 (name TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, until INTEGER NOT NULL) STRICT;
        INSERT INTO leases_3 SELECT name, owner, lease_until FROM leases;
        DROP TABLE leases;
        ALTER TABLE leases_3 RENAME TO leases;
        """,
    ]

    @Test("a new database has the latest version, the id of this program, and as many tables as snapshots know")
    func fresh() throws {
        let (version, id, tables) = try opened { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA user_version"), try Int.fetchOne(db, sql: "PRAGMA application_id"),
                try SQLiteSchema.parts(in: db).filter {
                    $0[0] == "table".databaseValue && $0[1] != "sqlite_sequence".databaseValue
                }.count
            )
        }
        #expect(version == SQLiteSchema.latestVersion)
        #expect(id == SQLiteSchema.applicationID)
        #expect(tables == SnapshotTables.held.count + SnapshotTables.left.count)
    }

    @Test("a copy of the database template has the whole schema, without a log")
    func template() throws {
        let copy = "\(folder.path)/copy.sqlite"
        try SQLiteFile.makeSchema(in: path)
        try FileSystem.copy(path, as: copy)
        let parts = try DatabaseQueue(path: copy).read { try SQLiteSchema.parts(in: $0) }
        #expect(try parts == SQLiteSchema.parts(ofVersion: SQLiteSchema.latestVersion))
    }

    @Test("a database whose first start was cut off before its schema opens", arguments: cutOffStarts)
    func cutOff(statements: [String]) throws {
        try execute(statements)
        let parts = try opened { try SQLiteSchema.parts(in: $0) }
        #expect(try parts == SQLiteSchema.parts(ofVersion: SQLiteSchema.latestVersion))
    }

    @Test("a migrated database keeps its rows, and has the schema of a new one", arguments: 1...2)
    func migrated(count: Int) throws {
        let (old, new) = (try DatabaseQueue(), try DatabaseQueue())
        let migrations = Array(Self.migrations.prefix(count))
        try Self.makeVersion1(old)
        try old.write {
            try $0.execute(sql: "INSERT INTO leases (name, owner, lease_until) VALUES ('sweep', 'one', 7)")
        }
        for queue in [old, old, new] {
            try SQLiteSchema.prepare(queue, migrations: migrations)
            #expect(try Self.version(of: queue) == 1 + count)
        }
        #expect(try old.read { try SQLiteSchema.parts(in: $0) } == new.read { try SQLiteSchema.parts(in: $0) })
        #expect(try old.read { try String.fetchAll($0, sql: "SELECT owner FROM leases") } == ["one"])
    }

    @Test("a failed migration keeps the schema version before it, and succeeds once the database is mended")
    func failing() throws {
        let queue = try DatabaseQueue(path: path)
        try Self.makeVersion1(queue)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO jobs (kind, transaction_id, business_id, subject, etag)
                    VALUES ('note', 99, 'b', 'd', '');
                    PRAGMA foreign_keys = ON;
                    """)
        }
        let error = #expect(throws: DatabaseError.self) { try SQLiteSchema.prepare(queue, migrations: Self.migrations) }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        #expect(try Self.version(of: queue) == 1)
        try queue.write { db in
            // As the file has it: GRDB remembers columns.
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(feedback)").map { $0["name"] as String }
            #expect(!columns.contains("note"))
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
            try db.execute(sql: "DELETE FROM jobs")
        }
        try SQLiteSchema.prepare(queue, migrations: Self.migrations)
        #expect(try Self.version(of: queue) == 3)
    }

    @Test("a database of a later version is refused, and so is a backup of it")
    func newer() throws {
        try Store(at: .file(path, .normal)).close()
        try execute(["PRAGMA user_version = \(SQLiteSchema.latestVersion + 1)"])
        #expect(throws: Store.Problem.newerSchema(path: path)) { try Store(at: .file(path, .normal)) }
        let isNewer = try DatabaseQueue(path: path).read(SQLiteSchema.isNewer)
        #expect(isNewer)
    }

    @Test(
        "a database of another program is refused",
        arguments: [
            "CREATE TABLE transactions (x)",
            "CREATE TABLE t (x); PRAGMA user_version = 1",
            "CREATE TABLE t (x); PRAGMA application_id = 7",
        ])
    func foreign(sql: String) throws {
        try execute([sql])
        #expect(throws: Store.Problem.foreign(path: path)) { try Store(at: .file(path, .normal)) }
        let isNewer = try DatabaseQueue(path: path).read(SQLiteSchema.isNewer)
        #expect(!isNewer)
    }

    @Test("an SQLite older than 3.38 is refused with its version")
    func oldSQLite() throws {
        try SQLiteDatabase.check(sqlite: 3_038_000, called: "3.38.0")
        let problem = #expect(throws: Store.Problem.self) {
            try SQLiteDatabase.check(sqlite: 3_037_002, called: "3.37.2")
        }
        #expect(problem?.description == "SQLite 3.37.2 is installed, and 3.38 or later is needed")
    }

    @Test("a database file can shrink, and overwrites deleted data")
    func vacuum() throws {
        let pragmas = { (db: Database) throws -> [Int?] in
            [try Int.fetchOne(db, sql: "PRAGMA auto_vacuum"), try Int.fetchOne(db, sql: "PRAGMA secure_delete")]
        }
        for _ in 1...2 { #expect(try opened(pragmas) == [2, 1], "also when it is opened again") }
    }

    @Test("full durability syncs the log with every commit, normal does not", arguments: Durability.allCases)
    func synchronous(durability: Durability) throws {
        let store = try Store(at: .file(path, durability))
        let value = try store.pool.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(value == (durability == .full ? 2 : 1))
    }

    @Test(
        "the schema's constraints refuse invalid rows",
        arguments: [
            "UPDATE transactions SET user_status = 'commit'",
            "UPDATE transactions SET processing_status = 'done'",
            "UPDATE documents SET status = 'success'",
            "UPDATE documents SET status = 'failure'",
            "UPDATE transactions SET business_id = ''",
            "UPDATE transactions SET kind = ''",
            "UPDATE transactions SET terms = 'no JSON'",
            "INSERT INTO templates (business_id, template_id, title, section_ids, created_at) VALUES ('', 't', 'T', '[]', 0)",
            """
            INSERT INTO feedback (feedback_id, transaction_id, entity, min_rating, max_rating, rating, created_at)
            VALUES ('f', 1, 'content', 1, 5, 6, 0)
            """,
            "INSERT INTO jobs (kind, transaction_id, business_id, subject, etag) VALUES ('assemble', 1, 'b', 'x', '')",
            "INSERT INTO jobs (kind, transaction_id, business_id, subject, etag) VALUES ('assemble', 999, 'b', '', '')",
            register("connect", isUnique: true) + register("connect", isUnique: true),
            register("connect", isUnique: false)
                + """
                INSERT INTO deliveries (lane, business_id, webhook, event, session, occurred_at, queued_at)
                VALUES ('lane', 'b', 1, 'completed', 's', 1, 1);
                DELETE FROM webhooks;
                """,
        ]
    )
    func constraints(sql: String) async throws {
        let fixture = try StoreFixture(onSQLite: true)
        try await fixture.initialise()
        let error = await #expect(throws: DatabaseError.self) {
            try await fixture.store.pool.write { try $0.execute(sql: sql) }
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
    }

    private static func register(_ style: String, isUnique: Bool) -> String {
        """
        INSERT INTO webhooks (style, business_id, client_id, user_id, endpoint, is_unique, events, scheme, pauses,
            created_at)
        VALUES ('\(style)', 'b', 'c', 'u', 'http://receiver/', \(isUnique), '[]', 'http', '[]', 0);

        """
    }

    @Test("an endpoint is unique among its style's registrations that must be, and the id of a removed one stays free")
    func registrations() async throws {
        let fixture = try StoreFixture(onSQLite: true)
        try await fixture.store.pool.write { db in
            for (style, isUnique) in [("connect", true), ("connect", false), ("other", true)] {
                try db.execute(sql: Self.register(style, isUnique: isUnique))
            }
            try db.execute(sql: "DELETE FROM webhooks WHERE id = 3")
            try db.execute(sql: Self.register("other", isUnique: true))
            #expect(db.lastInsertedRowID == 4)
        }
    }

    @Test(
        "the queries of a poll and of a claim use an index",
        arguments: [
            "SELECT * FROM transactions WHERE business_id = 'b' AND txn_id = 't'",
            "SELECT * FROM documents WHERE transaction_id = 1 AND is_authored = 0 ORDER BY id",
            "SELECT id FROM jobs WHERE state = 'pending' AND kind = 'note' AND run_at <= 1 ORDER BY run_at, id LIMIT 1",
            "SELECT * FROM transactions WHERE business_id = 'b' AND bucket = 'x' AND folder = 'y'",
            "SELECT file FROM objects WHERE business_id = 'b' AND bucket = 'x' AND key = 'y'",
            "SELECT * FROM deliveries WHERE business_id = 'b' AND session = 's' ORDER BY id",
        ])
    func queryPlans(sql: String) async throws {
        let fixture = try StoreFixture(onSQLite: true)
        let plan = try await fixture.store.pool.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") }, "\(plan)")
    }
}
