import GRDB
import ScribeDomain
import Testing

@testable import ScribeStore

struct StorageFailureTests {
    @Test("a statement that SQLite has interrupted was cancelled, and is no failure")
    func interruption() {
        #expect(StorageFailure.domainError(of: DatabaseError(resultCode: .SQLITE_INTERRUPT)) is CancellationError)
        #expect(StorageFailure.domainError(of: DatabaseError(resultCode: .SQLITE_FULL)) is ScribeError)
        #expect(StorageFailure.domainError(of: DatabaseError(resultCode: .SQLITE_CONSTRAINT)) is DatabaseError)
    }
}
