import ScribeStore

/// Reads the amounts of stored data, for metrics and health checks.
package struct StorageQueries: Sendable {
    let store: Store

    /// The numbers of waiting and running jobs and of objects, and the sizes of database and objects in bytes.
    package func size() async throws -> (jobs: Int, databaseBytes: Int, objects: Int, objectBytes: Int) {
        try await store.size()
    }

    /// Whether the database answers.
    package func isReachable() async -> Bool { await store.isReachable() }

    /// Settings of a shared database that risk acknowledged data, each as a sentence; nil for a database of one server,
    /// whose settings are the server's own.
    package func risks() async -> [String]? {
        guard store.isShared else { return nil }
        return try? await store.risks()
    }
}
