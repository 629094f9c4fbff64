import Foundation
import GRDB
import ScribeDomain
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

    private static func freshParts() throws -> [String: [String]] {
        let fixture = try StoreFixture(onSQLite: true)
        return try fixture.store.pool.read { try $0.schemaParts() }
    }

    /// A file of version 1, as a process leaves it that is killed before it makes version 2.
    private static let stamped =
        Schema.version1 + ["PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1"]
    private static let migrations = "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"
    private static let cutOffStarts: [[String]] = [
        [], ["CREATE TABLE gone (x)", "DROP TABLE gone"], [migrations], stamped,
    ]
    private static let newerFiles: [[String]] = [
        stamped + ["PRAGMA user_version = \(Schema.latestVersion + 1)"],
        Schema.version1 + [
            migrations, "INSERT INTO grdb_migrations VALUES ('001 foundations'), ('999 from the future')",
        ],
    ]

    /// Compares part by part: a failure then names what differs.
    private func expect(_ parts: [String: [String]], toBe expected: [String: [String]]) {
        for name in Set(parts.keys).union(expected.keys) { #expect(parts[name] == expected[name], "\(name)") }
    }

    @Test("schema version 1 equals the result of earlier releases' migrations")
    func version1() throws {
        let (old, new) = (try DatabaseQueue(), try DatabaseQueue())
        try LegacyMigrations.migrator.migrate(old)
        try new.write { db in for sql in Schema.version1 { try db.execute(sql: sql) } }
        let (made, known) = (try new.read { try $0.schemaParts() }, try old.read { try $0.schemaParts() })
        #expect(made.count > 80)
        expect(made, toBe: known)
    }

    @Test(
        "a database that stopped after any earlier migration gets the schema of a new database",
        arguments: LegacyMigrations.migrator.migrations)
    func migrated(last: String) throws {
        let old = try DatabaseQueue(path: path)
        try LegacyMigrations.migrator.migrate(old, upTo: last)
        try old.close()
        expect(try opened { try $0.schemaParts() }, toBe: try Self.freshParts())
        let (version, id, isMarked) = try opened { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA user_version"), try Int.fetchOne(db, sql: "PRAGMA application_id"),
                try db.tableExists("grdb_migrations")
            )
        }
        #expect(version == Schema.latestVersion)
        #expect(id == Schema.applicationID)
        #expect(!isMarked)
    }

    @Test("a database whose first start was cut off, before or between its steps, opens", arguments: cutOffStarts)
    func cutOff(statements: [String]) throws {
        try execute(statements)
        expect(try opened { try $0.schemaParts() }, toBe: try Self.freshParts())
    }

    @Test("a failed migration keeps the schema version before it, and succeeds once the database is mended")
    func failing() throws {
        try execute(Self.stamped)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = OFF;
                    INSERT INTO jobs (kind, transaction_id, business_id, subject, etag)
                    VALUES ('note', 99, 'b', 'd', '');
                    PRAGMA foreign_keys = ON;
                    """)
        }
        let error = #expect(throws: DatabaseError.self) { try Schema.prepare(queue) }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        try queue.write { db in
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 1)
            // As the file has it: GRDB remembers columns.
            let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(transactions)").map { $0["name"] as String }
            #expect(!columns.contains("kind"))
            #expect(try Int.fetchOne(db, sql: "PRAGMA foreign_keys") == 1)
            try db.execute(sql: "DELETE FROM jobs")
        }
        try Schema.prepare(queue)
        let version = try queue.read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == Schema.latestVersion)
    }

    @Test("a database of a later version is refused, and so is a backup of it", arguments: newerFiles)
    func newer(statements: [String]) throws {
        try execute(statements)
        #expect(throws: Store.Problem.newerSchema(path: path)) { try Store(at: .file(path, .normal)) }
        let isNewer = try DatabaseQueue(path: path).read(Schema.isNewer)
        #expect(isNewer)
    }

    @Test(
        "a database of another program is refused",
        arguments: [
            "CREATE TABLE transactions (x)",
            "CREATE TABLE t (x); PRAGMA user_version = 1",
            "CREATE TABLE t (x); PRAGMA application_id = 7",
            "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY); PRAGMA application_id = 7",
        ])
    func foreign(sql: String) throws {
        try execute([sql])
        #expect(throws: Store.Problem.foreign(path: path)) { try Store(at: .file(path, .normal)) }
        let isNewer = try DatabaseQueue(path: path).read(Schema.isNewer)
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

    @Test("a database of the first version is migrated and keeps its data")
    func older() async throws {
        let old = try DatabaseQueue(path: path)
        try LegacyMigrations.migrator.migrate(old, upTo: "001 foundations")
        try await old.write {
            try $0.execute(
                sql: """
                    INSERT INTO transactions (business_id, txn_id, user_id, doctor_id, client_id, request, user_status,
                        processing_status, created_at)
                    VALUES ('b', 't', 'u', 'd', 'c', '{"transfer":"vaded","announcedFiles":[],"inputLanguages":[],
                        "templates":[],"flavour":""}', 'init', 'in-progress', 0);
                    INSERT INTO documents (document_id, transaction_id, kind, template_id, name, format, status, value,
                        updated_at) VALUES ('d', 1, 'custom', 'soap', 'SOAP', 'json', 'success', 'kept', 5)
                    """
            )
        }
        try old.close()
        let store = try Store(at: .file(path, .normal))
        let results = try await store.results(of: .init(business: .init("b"), id: .init("t")))
        #expect(results?.transaction.userStatus == .initialized)
        #expect(results?.documents.map(\.value) == ["kept"])
        #expect(try await store.multipartUpload("x", bucket: "b", key: "k", business: .init("b")) == nil)
    }

    @Test("a new database file can shrink and overwrites deleted data, and an earlier one only overwrites")
    func vacuum() throws {
        let pragmas = { (db: Database) throws -> [Int?] in
            [try Int.fetchOne(db, sql: "PRAGMA auto_vacuum"), try Int.fetchOne(db, sql: "PRAGMA secure_delete")]
        }
        for _ in 1...2 { #expect(try opened(pragmas) == [2, 1], "also when it is opened again") }
        try FileManager.default.removeItem(atPath: path)
        let old = try DatabaseQueue(path: path)
        try LegacyMigrations.migrator.migrate(old)
        try old.close()
        #expect(try opened(pragmas) == [0, 1])
    }

    @Test("full durability syncs the log with every commit, normal does not", arguments: Store.Durability.allCases)
    func synchronous(durability: Store.Durability) throws {
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
