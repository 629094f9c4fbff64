import GRDB

extension SQLiteDatabase {
    /// Shrinks the database by its free pages. A file from before version 1 of the schema has no `auto_vacuum`, and
    /// keeps its free pages.
    /// - Parameter limit: the maximum number of pages, at least 1. Other writes wait meanwhile.
    /// - Returns: the number of pages that were freed.
    func freePages(atMost limit: Int) async throws -> Int {
        try await writes.write { db in
            let before = try Self.countOfFreePages(in: db)
            guard before > 0, try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == Self.incremental else { return 0 }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(max(1, limit)))")
            return try before - Self.countOfFreePages(in: db)
        }
    }

    /// Value of `PRAGMA auto_vacuum` for incremental mode.
    private static let incremental = 2

    private static func countOfFreePages(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
