import Foundation
import GRDB
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeStore

struct SchemaTests {
    @Test("a database of a later version is refused")
    func newer() throws {
        let fixture = try StoreFixture()
        try fixture.store.pool.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('999 from the future')")
        }
        try fixture.store.close()
        #expect(throws: Store.Problem.self) {
            try Store(path: "\(fixture.folder.path)/scribe.sqlite", durability: .normal)
        }
    }

    @Test("a SQLite without what the store uses is refused by its version")
    func oldSQLite() throws {
        try Store.check(sqlite: 3_038_000, called: "3.38.0")
        let problem = #expect(throws: Store.Problem.self) { try Store.check(sqlite: 3_037_002, called: "3.37.2") }
        #expect(problem?.description == "SQLite 3.37.2 is installed, and 3.38 or later is needed")
    }

    @Test("a database of the first version is migrated, and what is in it stays")
    func older() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/scribe.sqlite"
        let old = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(old, upTo: "001 foundations")
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
        let store = try Store(path: path, durability: .normal)
        let results = try await store.results(of: .init(business: .init("b"), id: .init("t")))
        #expect(results?.transaction.userStatus == .initialized)
        #expect(results?.documents.map(\.value) == ["kept"])
        #expect(try await store.multipartUpload("x", bucket: "b", key: "k", business: .init("b")) == nil)
    }

    @Test("full durability syncs the log with every commit, normal does not", arguments: Store.Durability.allCases)
    func synchronous(durability: Store.Durability) throws {
        let folder = try TemporaryFolder()
        let store = try Store(path: "\(folder.path)/scribe.sqlite", durability: durability)
        let value = try store.pool.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        #expect(value == (durability == .full ? 2 : 1))
    }

    @Test(
        "the schema itself refuses what must not be",
        arguments: [
            "UPDATE transactions SET user_status = 'commit'",
            "UPDATE transactions SET processing_status = 'done'",
            "UPDATE documents SET status = 'success'",
            "UPDATE documents SET status = 'failure'",
            "UPDATE transactions SET business_id = ''",
            "INSERT INTO templates (business_id, template_id, title, section_ids, created_at) VALUES ('', 't', 'T', '[]', 0)",
            """
            INSERT INTO feedback (feedback_id, transaction_id, entity, min_rating, max_rating, rating, created_at)
            VALUES ('f', 1, 'content', 1, 5, 6, 0)
            """,
            "INSERT INTO jobs (kind, transaction_id, file_name, etag) VALUES ('assemble', 1, 'x', '')",
            "INSERT INTO jobs (kind, transaction_id, file_name, etag) VALUES ('assemble', 999, '', '')",
        ]
    )
    func constraints(sql: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.initialise()
        await #expect(throws: DatabaseError.self) { try await fixture.store.pool.write { try $0.execute(sql: sql) } }
    }

    @Test(
        "a poll and a claim search by index",
        arguments: [
            "SELECT * FROM transactions WHERE business_id = 'b' AND txn_id = 't'",
            "SELECT * FROM documents WHERE transaction_id = 1 AND is_authored = 0 ORDER BY id",
            "SELECT id FROM jobs WHERE state = 'pending' AND kind = 'note' AND run_at <= 1 ORDER BY run_at, id LIMIT 1",
            "SELECT * FROM transactions WHERE business_id = 'b' AND bucket = 'x' AND folder = 'y'",
            "SELECT file FROM objects WHERE business_id = 'b' AND bucket = 'x' AND key = 'y'",
        ])
    func queryPlans(sql: String) async throws {
        let fixture = try StoreFixture()
        let plan = try await fixture.store.pool.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)").map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") }, "\(plan)")
    }
}
