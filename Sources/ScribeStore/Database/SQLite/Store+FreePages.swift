import GRDB

extension Store {
    /// Shrinks the database by its free pages, if it is one of SQLite.
    /// - Parameter limit: the maximum number of pages, at least 1. Other writes wait meanwhile.
    /// - Returns: the number of pages that were freed.
    package func freePages(atMost limit: Int) async throws -> Int {
        guard let database = database as? SQLiteDatabase else { return 0 }
        return try await database.writes.write { db in
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
