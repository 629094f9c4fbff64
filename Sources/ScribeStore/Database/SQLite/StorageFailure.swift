import Basics
import GRDB
import ObjectStorage
import ScribeDomain
import SystemPackage

/// Translates failures of SQLite and of files into errors of the domain. Code above the store reads no error number.
enum StorageFailure {
    /// Translates a failure: ``Store/Problem/damaged(path:)`` for a damaged database at `path`;
    /// ``ScribeError/storageUnavailable(cause:)`` for a full disk or quota, a file that is too large, and for
    /// SQLITE_FULL, SQLITE_IOERR and SQLITE_CANTOPEN; ``ScribeError/invalidRequest(field:problem:)`` for a text that
    /// PostgreSQL cannot index; `CancellationError` for a statement that SQLite has interrupted, as it does when a task
    /// is cancelled or a store closes; any other error unchanged.
    static func domainError(of error: any Error, path: String? = nil) -> any Error {
        if (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT { return CancellationError() }
        if let path, isDamage(error) { return Store.Problem.damaged(path: path) }
        if let error = error as? PostgreSQLError, error.isTooLong {
            return ScribeError.invalidRequest(
                field: nil, problem: "A name, path or URL is too long: PostgreSQL indexes at most 2,704 bytes")
        }
        return isStorageUnavailable(error) ? ScribeError.storageUnavailable(cause: "\(error)") : error
    }

    /// Runs `body`, and translates its failure.
    static func translatingErrors<Value>(
        path: String? = nil, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            throw domainError(of: error, path: path)
        }
    }

    /// Whether SQLite finds the file to be no database, or no longer one.
    private static func isDamage(_ error: any Error) -> Bool {
        [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains((error as? DatabaseError)?.resultCode)
    }

    /// Translates an error of SQLite at the start into ``Store/Problem``; any other error stays unchanged.
    private static func problem(of error: any Error, path: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        switch error.resultCode {
        case _ where isDamage(error): return Store.Problem.damaged(path: path)
        case .SQLITE_FULL: return Store.Problem.full(path: path)
        // SQLite reports this error if the WAL index cannot grow.
        case .SQLITE_IOERR where !Store.Problem.hasRoom(path): return Store.Problem.full(path: path)
        // SQLite reports the same error for files without permission and for a full disk.
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            return Store.Problem.isWritable(path) ? Store.Problem.full(path: path) : Store.Problem.forbidden(path: path)
        default: return Store.Problem.unusable(path: path, reason: error.message ?? "SQLite refuses it")
        }
    }

    /// Runs `body` at the start, and translates its failure.
    static func atStart<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw problem(of: error, path: path)
        }
    }

    private static func isStorageUnavailable(_ error: any Error) -> Bool {
        if let error = error as? Errno { return error.isFullDisk }
        if let failure = error as? FileSystem.Failure { return failure.isFullDisk }
        if let error = error as? PostgreSQLError { return error.isUnavailable }
        guard let error = error as? DatabaseError else { return false }
        return [.SQLITE_FULL, .SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode)
    }
}
