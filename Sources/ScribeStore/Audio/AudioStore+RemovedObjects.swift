package import Foundation
import ObjectStorage

/// Objects in S3 whose bytes are to be deleted.
extension AudioStore: ObjectRemovals {
    /// Notes names of bytes to which no row refers any more.
    package func addRemovals(of names: [String], at now: Date) async throws {
        try await database.write(.none) { db in
            try db.run(
                """
                INSERT INTO removed_objects (name, removed_at) SELECT value, CAST(?2 AS BIGINT) FROM \(db.list(1)) AS list
                ON CONFLICT (name) DO NOTHING
                """, [try StoredJSON.text(names), now.milliseconds])
        }
    }

    /// Names that were noted before a time, at most 100.
    package func removals(before time: Date) async throws -> [String] {
        try await read { db in
            try db.rows("SELECT name FROM removed_objects WHERE removed_at <= ? LIMIT 100", [time.milliseconds])
                .map { $0["name"] }
        }
    }

    package func forgetRemovals(of names: [String]) async throws {
        try await database.write(.none) { db in
            try db.run(
                "DELETE FROM removed_objects WHERE name \(db.isAmong(1))", [try StoredJSON.text(names)])
        }
    }
}
