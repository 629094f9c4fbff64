extension Store {
    /// Shrinks the database by pages that hold nothing any more.
    /// - Parameter limit: the most pages, at least 1. Other writes wait until they are given back.
    /// - Returns: the number of pages that were given back.
    package func freePages(atMost limit: Int) async throws -> Int { try await database.freePages(atMost: limit) }
}
