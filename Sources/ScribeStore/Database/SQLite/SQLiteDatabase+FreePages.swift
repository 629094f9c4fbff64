import GRDB

extension SQLiteDatabase {
    /// Shrinks the database by its free pages.
    /// - Parameter limit: the maximum number of pages, at least 1. Other writes wait meanwhile.
    /// - Returns: the number of pages that were freed.
    func freePages(atMost limit: Int) async throws -> Int {
        try await writes.write { db in
            let before = try Self.countOfFreePages(in: db)
            guard before > 0 else { return 0 }
            try db.execute(sql: "PRAGMA incremental_vacuum(\(max(1, limit)))")
            return try before - Self.countOfFreePages(in: db)
        }
    }

    private static func countOfFreePages(in db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
    }
}
