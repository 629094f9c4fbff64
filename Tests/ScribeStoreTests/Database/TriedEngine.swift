import Basics
import Foundation

@testable import ScribeStore

/// PostgreSQL with a pause after each statement of a write, or with an error at one of them.
final class TriedEngine: StoreEngine {
    /// Trial of the statements of a write.
    enum Trial: Sendable {
        case pause
        /// Throws once, after the statement of a number has run.
        case fail(PostgreSQLError, statement: Int)
    }

    private let inner: any StoreEngine
    private let trial = LockedValue<Trial?>(nil)
    private let hasFailed = LockedValue(false)

    init(_ inner: any StoreEngine) { self.inner = inner }

    func begin(_ trial: Trial) {
        hasFailed.withLock { $0 = false }
        self.trial.withLock { $0 = trial }
    }

    /// Ends the trial.
    /// - Returns: whether the error was thrown.
    @discardableResult func end() -> Bool {
        trial.withLock { $0 = nil }
        return hasFailed.withLock { $0 }
    }

    func write<Value: Sendable>(
        in scopes: [WriteScope], body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value {
        try await inner.write(in: scopes) { [self] db, changes in
            guard let trial = trial.withLock({ $0 }) else { return try body(db, &changes) }
            var statements = 0
            let session = TriedSession(inner: db) { [self] in
                statements += 1
                switch trial {
                case .pause: usleep(2000)
                case .fail(let error, let number):
                    let isNow = hasFailed.withLock { hasFailed in
                        guard statements == number, !hasFailed else { return false }
                        hasFailed = true
                        return true
                    }
                    if isNow { throw error }
                }
            }
            return try body(session, &changes)
        }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await inner.read(body)
    }

    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws { try inner.writeBlocking(body) }
    func size(in session: any StoreSession) throws -> Int { try inner.size(in: session) }
    func close() throws { try inner.close() }
    var isClosed: Bool { inner.isClosed }
}

/// Session that calls `after` at the end of each statement.
private struct TriedSession: StoreSession {
    let inner: any StoreSession
    let after: () throws -> Void

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [StoredRow] {
        let rows = try inner.rows(sql, arguments)
        try after()
        return rows
    }

    func run(_ sql: String, _ arguments: SQLArguments) throws {
        try inner.run(sql, arguments)
        try after()
    }

    func savepoint(_ body: () throws -> Void) throws { try inner.savepoint(body) }
    func changedRows() throws -> Int { try inner.changedRows() }
    func insertedID() throws -> Int64 { try inner.insertedID() }
    func list(_ number: Int) -> String { inner.list(number) }
    func isAmong(_ number: Int) -> String { inner.isAmong(number) }
    func isAmongIntegers(_ number: Int) -> String { inner.isAmongIntegers(number) }
    func text(_ column: String, _ path: String...) -> String {
        path.count == 1 ? inner.text(column, path[0]) : inner.text(column, path[0], path[1])
    }
    func text(_ column: String, _ key: String, _ index: Int) -> String { inner.text(column, key, index) }
    func json(_ column: String, _ key: String) -> String { inner.json(column, key) }
    func number(_ column: String, _ key: String) -> String { inner.number(column, key) }
    func members(of column: String) -> String { inner.members(of: column) }
    func ordered(_ parameter: String) -> String { inner.ordered(parameter) }
    func matches(_ expression: String, _ pattern: String) -> String { inner.matches(expression, pattern) }
    func joined(_ column: String) -> String { inner.joined(column) }
}
