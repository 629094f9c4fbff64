import ScribeStore

/// Reads how much is stored, for metrics and health checks.
package struct StorageQueries: Sendable {
    let store: Store

    /// Jobs waiting or running, the bytes of the database, and the uploads.
    package func size() async throws -> (jobs: Int, databaseBytes: Int, objects: Int, objectBytes: Int) {
        try await store.size()
    }

    /// Whether the database answers.
    package func isReachable() async -> Bool { await store.isReachable() }
}
