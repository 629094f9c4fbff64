extension Store {
    /// Shrinks the database by its free pages.
    /// - Parameter limit: the maximum number of pages, at least 1. Other writes wait meanwhile.
    /// - Returns: the number of pages that were freed.
    package func freePages(atMost limit: Int) async throws -> Int {
        try await (database as? SQLiteDatabase)?.freePages(atMost: limit) ?? 0
    }
}
