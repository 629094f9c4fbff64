import GRDB

extension SQLiteDatabase {
    /// Shrinks the database by pages that hold nothing any more. A file from before version 1 of the schema keeps them
    /// for later: it has no `auto_vacuum`.
    /// - Parameter limit: The most pages, at least 1. Other writes wait until they are given back.
    /// - Returns: The number of pages that were given back.
    func freePages(atMost limit: Int) async throws -> Int {
        try await writes.write { db in
            let before = try Self.countOfFreePages(in: db)
            guard before > 0, try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == Self.incremental else { return 0 }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(max(1, limit)))")
            return try before - Self.countOfFreePages(in: db)
        }
    }

    /// As `PRAGMA auto_vacuum` says it.
    private static let incremental = 2

    private static func countOfFreePages(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
