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

    /// What an error of SQLite at the start means to the operator; any other error as it is.
    static func problem(of error: any Error, path: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: return Store.Problem.damaged(path: path)
        case .SQLITE_FULL: return Store.Problem.full(path: path)
        // What SQLite says where it finds no room for the index of its log.
        case .SQLITE_IOERR where !Store.Problem.hasRoom(path): return Store.Problem.full(path: path)
        // SQLite does not say whether its files may not be opened, or find no room.
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            return Store.Problem.isWritable(path) ? Store.Problem.full(path: path) : Store.Problem.forbidden(path: path)
        default: return Store.Problem.unusable(path: path, reason: error.message ?? "SQLite refuses it")
        }
    }

    private static func isFull(_ error: any Error) -> Bool {
        if let error = error as? Errno { return [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(error) }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
    }
}
