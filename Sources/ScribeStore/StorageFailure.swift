import GRDB
import ScribeDomain
import SystemPackage

/// Failures of SQLite and of files, as the domain knows them: nobody above the store looks at an error number.
enum StorageFailure {
    /// ``ScribeError/storageUnavailable(cause:)`` for a disk without room; anything else as it is.
    static func domainError(of error: any Error) -> any Error {
        isFull(error) ? ScribeError.storageUnavailable(cause: "\(error)") : error
    }

    /// Does `body`, and throws what its failure means to the domain.
    static func explained<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw domainError(of: error)
        }
    }

    private static func isFull(_ error: any Error) -> Bool {
        if let error = error as? Errno { return [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(error) }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
    }
}
