import Foundation
import ScribeDomain
import Testing

@testable import ScribeStore

@Suite("Rows of a seed in the store")
struct SeedStoreTests {
    @Test("the rows of a file are added once, and with several files all or none")
    func files() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store
        var rows = SeedRows()
        rows.files = ["a0", "b1"]
        try await store.transactions.add(rows, at: fixture.start)
        #expect(try await store.transactions.appliedFiles() == ["a0", "b1"])
        rows.files = ["c2", "a0"]
        await #expect(throws: SeedProblem.isApplied) { try await store.transactions.add(rows, at: fixture.start) }
        #expect(try await store.transactions.appliedFiles() == ["a0", "b1"])
    }
}
