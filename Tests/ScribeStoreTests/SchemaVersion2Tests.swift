import Foundation
import GRDB
import ScribeDomain
import Testing

@testable import ScribeStore

/// What version 2 makes of the rows of a file from before.
struct SchemaVersion2Tests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try LegacyMigrations.migrator.migrate(queue)
    }

    /// A row of version 1, and what becomes of it.
    struct Recording: Sendable, CustomTestStringConvertible {
        let name: String
        var bucket = "bucket"
        var folder = "260510/t"
        var encounter: String?
        /// What stands in the request beside its other members.
        var members = ""
        let kind: String
        var terms = "{}"

        var testDescription: String { name }

        static let all: [Recording] = [
            Recording(name: "of init", kind: "transaction"),
            Recording(name: "a session", members: #","session":\#(session)"#, kind: "session", terms: session),
            Recording(name: "a session of null", members: #","session":null"#, kind: "transaction"),
            Recording(
                name: "ambient", encounter: "e", members: #","ambient":\#(ambient)"#, kind: "ambient", terms: ambient),
            Recording(name: "ambient without terms", encounter: "e", kind: "ambient"),
            Recording(name: "ambient of no object", encounter: "e", members: #","ambient":7"#, kind: "ambient"),
            Recording(
                name: "ambient without a visit", members: #","ambient":\#(ambient)"#, kind: "ambient", terms: ambient),
            Recording(name: "t", bucket: batch, folder: "conversations/t", kind: "conversation"),
            Recording(name: "a file of a form", bucket: batch, kind: "transaction"),
            Recording(name: "own", bucket: "own", folder: "conversations/own", kind: "transaction"),
            Recording(name: "in another's folder", bucket: batch, folder: "conversations/t", kind: "transaction"),
        ]

        private static let batch = "m-prod-ekascribe-batch"
        private static let session = #"{"uploadType":"chunked","templates":["soap","\u00e9"]}"#
        private static let ambient =
            #"{"encounter":"e","stage":"created","context":{"a":[1.50,"x"]},"narrativeSections":[]}"#
    }

    @Test("the migration to version 2 gives each recording its kind and its terms", arguments: Recording.all)
    func kinds(recording: Recording) throws {
        let bare = #"{"transfer": "vaded", "flavour": "x", "number": 12345678901234567890}"#
        let request = recording.members.isEmpty ? bare : #"{"flavour":"x"\#(recording.members)}"#
        try queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO transactions (business_id, txn_id, user_id, doctor_id, client_id, bucket, folder,
                        encounter_id, request, user_status, processing_status, created_at)
                    VALUES ('b', ?, 'u', 'd', 'c', ?, ?, ?, ?, 'init', 'in-progress', 0)
                    """,
                arguments: [recording.name, recording.bucket, recording.folder, recording.encounter, request])
        }
        try Schema.prepare(queue)
        let found = try queue.read { try Row.fetchOne($0, sql: "SELECT kind, terms, request FROM transactions") }
        let row = try #require(found)
        #expect(row["kind"] as String == recording.kind)
        #expect(row["terms"] as String == recording.terms)
        let intake = ["session": "arrived", "ambient": "segments"][recording.kind]
        // What is a transaction is not written anew.
        if recording.members.isEmpty, intake == nil { #expect(row["request"] as String == bare) }
        let kept = try JSONDocument(Data((row["request"] as String).utf8)).decode(JSONValue.self)
        #expect(kept["flavour"] == .string("x"))
        #expect(kept["intake"]?.stringValue == intake)
        #expect(kept["session"] == nil && kept["ambient"] == nil)
    }

    @Test(
        "the migration to version 2 finds the bucket of audio by its folder", arguments: ["None", "null", "undefined"])
    func unknownBucket(bucket: String) throws {
        try queue.write { db in
            for (id, bucket, folder) in [
                ("found", bucket, "c/t/1"), ("nowhere", bucket, "c/t/2"), ("known", "b", "c/t/1"),
            ] {
                try db.execute(
                    sql: """
                        INSERT INTO transactions (business_id, txn_id, user_id, doctor_id, client_id, bucket, folder,
                            request, user_status, processing_status, created_at)
                        VALUES ('b', ?, 'u', 'd', 'c', ?, ?, '{}', 'init', 'in-progress', 0)
                        """, arguments: [id, bucket, folder])
            }
            try db.execute(
                sql: """
                    INSERT INTO objects (business_id, bucket, key, file, size, etag, metadata, created_at)
                    VALUES ('b', 'm-prod-ekascribe-batch', 'c/t/1/1.wav', 'f', 1, 'e', '{}', 0)
                    """)
        }
        try Schema.prepare(queue)
        let buckets = try queue.read {
            try String.fetchAll($0, sql: "SELECT bucket FROM transactions ORDER BY id")
        }
        #expect(buckets == ["m-prod-ekascribe-batch", bucket, "b"])
    }

    /// Registrations 1 to 4, of which 2 was removed and 4 is gone, with a delivery of the third.
    private func registerWebhooks() throws {
        try queue.write { db in
            for (index, style) in ["connect", "connect", "alliance", "suki"].enumerated() {
                let removedAt = index == 1 ? 5 : nil
                try db.execute(
                    sql: """
                        INSERT INTO webhooks (style, business_id, client_id, user_id, endpoint, events, signing_key,
                            scheme, pauses, created_at, removed_at)
                        VALUES (?, 'b', 'c', 'u', 'http://receiver/', '["e"]', 'key', 'http', '[10]', 3, ?)
                        """,
                    arguments: [style, removedAt])
            }
            try db.execute(
                sql: """
                    DELETE FROM webhooks WHERE id = 4;
                    INSERT INTO deliveries (lane, business_id, webhook, event, session, occurred_at, queued_at)
                    VALUES ('lane', 'b', 3, 'completed', 's', 1, 1);
                    """)
        }
    }

    private static let register = """
        INSERT INTO webhooks (style, business_id, client_id, user_id, endpoint, is_unique, events, scheme, pauses,
            created_at)
        VALUES (?, 'b', 'c', 'u', 'http://receiver/', ?, '[]', 'http', '[]', 0)
        """

    @Test("the migration to version 2 keeps registrations with their ids, and never reuses an id")
    func webhooks() throws {
        try registerWebhooks()
        let columns = """
            SELECT id, style, business_id, client_id, user_id, endpoint, events, signing_key, scheme, pauses,
                created_at, removed_at FROM webhooks ORDER BY id
            """
        let before = try queue.read { try Row.fetchAll($0, sql: columns) }
        try Schema.prepare(queue)
        try queue.write { db in
            #expect(try Row.fetchAll(db, sql: columns) == before)
            #expect(try Bool.fetchAll(db, sql: "SELECT is_unique FROM webhooks ORDER BY id") == [true, true, false])
            try db.execute(sql: Self.register, arguments: ["of any family", false])
            #expect(db.lastInsertedRowID == 5)
            let counters = try String.fetchAll(db, sql: "SELECT name FROM sqlite_sequence WHERE name GLOB 'webhooks*'")
            #expect(counters == ["webhooks"])
        }
    }

    @Test(
        "schema version 2 refuses a second registration of an endpoint that must be unique",
        arguments: [("connect", true, false), ("connect", false, true), ("alliance", true, true)])
    func uniqueEndpoints(style: String, isUnique: Bool, isTaken: Bool) throws {
        try registerWebhooks()
        try Schema.prepare(queue)
        let register = {
            try queue.write { try $0.execute(sql: Self.register, arguments: [style, isUnique]) }
        }
        if isTaken {
            try register()
        } else {
            let error = #expect(throws: DatabaseError.self) { try register() }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        }
    }

    @Test("schema version 2 refuses to delete a registration that has deliveries")
    func references() throws {
        try registerWebhooks()
        try Schema.prepare(queue)
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try $0.execute(sql: "DELETE FROM webhooks WHERE id = 3") }
        }
        #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        let webhook = try queue.read { try Int.fetchOne($0, sql: "SELECT webhook FROM deliveries") }
        #expect(webhook == 3)
    }
}
