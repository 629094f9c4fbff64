import GRDB
import ObjectStorage
import TestSupport
import Testing

@testable import ScribeStore

struct FreePagesTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/scribe.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    /// Stores a blob of some hundred pages, and deletes it.
    private func fillAndDelete(in store: Store) async throws {
        try await store.pool.write { db in
            try db.execute(sql: "CREATE TABLE blobs (value BLOB); INSERT INTO blobs VALUES (zeroblob(500000))")
        }
        try await store.pool.write { try $0.execute(sql: "DROP TABLE blobs") }
    }

    private func pages(_ pragma: String, of store: Store) async throws -> Int {
        try await store.pool.read { try Int.fetchOne($0, sql: "PRAGMA \(pragma)") ?? -1 }
    }

    @Test("free pages of the database are given back, at most as many as requested")
    func fresh() async throws {
        let store = try Store(at: .file(path, .normal))
        let before = try await pages("page_count", of: store)
        try await fillAndDelete(in: store)
        let free = try await pages("freelist_count", of: store)
        #expect(free > 100)
        #expect(try await store.freePages(atMost: 10) == 10)
        #expect(try await pages("freelist_count", of: store) == free - 10)
        #expect(try await store.freePages(atMost: 10_000) == free - 10)
        #expect(try await store.freePages(atMost: 10_000) == 0)
        #expect(try await pages("page_count", of: store) <= before)
    }
}
