import Foundation
import GRDB
import GRDBSQLite

/// Store session on a connection of SQLite. Statements come from GRDB's cache, and are bound and stepped here: GRDB
/// converts each value twice, which costs a fifth of a statement.
struct SQLiteSession: StoreSession {
    let database: Database
    /// Whether a statement requires an open SQL transaction. A full disk makes SQLite roll it back, and later
    /// statements would be committed alone.
    let isWriting: Bool

    func changedRows() -> Int { database.changesCount }

    func insertedID() -> Int64 { database.lastInsertedRowID }

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        try execute(sql, arguments) { statement in
            let handle = statement.sqliteStatement
            rows.append(
                StoredRow(
                    columns: statement.columnNames,
                    values: (0..<sqlite3_column_count(handle)).map { Self.value(of: handle, at: $0) }))
        }
        return rows
    }

    func run(_ sql: String, _ arguments: SQLArguments) throws { try execute(sql, arguments) { _ in } }

    func savepoint(_ body: () throws -> Void) throws {
        try database.inSavepoint {
            try body()
            return .commit
        }
    }

    func list(_ number: Int) -> String { "(SELECT value FROM json_each(?\(number)))" }

    func isAmong(_ number: Int) -> String { "IN \(list(number))" }

    func isAmongIntegers(_ number: Int) -> String { isAmong(number) }

    func text(_ column: String, _ path: String...) -> String { "\(column) ->> '$.\(path.joined(separator: "."))'" }

    func text(_ column: String, _ key: String, _ index: Int) -> String { "\(column) ->> '$.\(key)[\(index)]'" }

    func json(_ column: String, _ key: String) -> String { "\(column) -> '$.\(key)'" }

    func number(_ column: String, _ key: String) -> String { "\(column) ->> '$.\(key)'" }

    func members(of column: String) -> String { "json_each(\(column))" }

    func ordered(_ parameter: String) -> String { parameter }

    func matches(_ expression: String, _ pattern: String) -> String { "\(expression) LIKE \(pattern) ESCAPE '\\'" }

    func joined(_ column: String) -> String { "group_concat(\(column), ' ')" }

    // MARK: Statements

    /// Runs a statement, and calls `body` at each row.
    private func execute(_ sql: String, _ arguments: SQLArguments, _ body: (Statement) -> Void) throws {
        guard !isWriting || database.isInsideTransaction else {
            throw DatabaseError(resultCode: .SQLITE_ABORT, message: "the transaction was rolled back", sql: sql)
        }
        let statement = try database.cachedStatement(sql: sql)
        let handle = statement.sqliteStatement
        precondition(
            sqlite3_bind_parameter_count(handle) == arguments.values.count, "another number of values than in \(sql)")
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1 + arguments.textSize) { memory in
            // The statement stays in the cache. It may keep no text of this memory, and no picture until it runs again.
            defer {
                sqlite3_reset(handle)
                sqlite3_clear_bindings(handle)
            }
            var texts = memory[...]
            for (index, value) in arguments.values.enumerated() {
                let code = Self.bind(value, to: handle, at: Int32(index + 1), &texts)
                guard code == SQLITE_OK else { throw failure(code, sql) }
            }
            while true {
                switch sqlite3_step(handle) {
                case SQLITE_ROW: body(statement)
                case SQLITE_DONE: return
                case let code: throw failure(code, sql)
                }
            }
        }
    }

    /// Makes SQLite copy bound values.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// - Parameter texts: memory for the texts, which SQLite reads there until the bindings are cleared. A copy of each
    ///   would take an allocation of its own.
    private static func bind(
        _ value: SQLValue, to handle: SQLiteStatement, at index: Int32,
        _ texts: inout Slice<UnsafeMutableBufferPointer<UInt8>>
    ) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let value): return sqlite3_bind_int64(handle, index, value)
        case .real(let value): return sqlite3_bind_double(handle, index, value)
        case .text(let text):
            let place = UnsafeMutableBufferPointer(rebasing: texts)
            let count =
                text.utf8.withContiguousStorageIfAvailable { place.update(fromContentsOf: $0) }
                ?? place.update(fromContentsOf: Array(text.utf8))
            texts = texts.dropFirst(count)
            return place.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text64(handle, index, $0.baseAddress, UInt64(count), nil, UInt8(SQLITE_UTF8))
            }
        case .blob(let data):
            guard !data.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return data.withUnsafeBytes {
                sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), copied)
            }
        }
    }

    private static func value(of handle: SQLiteStatement, at index: Int32) -> SQLValue {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(handle, index)
            let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, index)))
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(handle, index))
            return .blob(sqlite3_column_blob(handle, index).map { Data(bytes: $0, count: count) } ?? Data())
        default: return .null
        }
    }

    private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: database.sqliteConnection.map { String(cString: sqlite3_errmsg($0)) }, sql: sql)
    }
}

extension Database {
    /// Store session for a write, within its SQL transaction.
    var writing: SQLiteSession { SQLiteSession(database: self, isWriting: true) }

    /// Store session for a read.
    var reading: SQLiteSession { SQLiteSession(database: self, isWriting: false) }
}
