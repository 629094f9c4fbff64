import GRDB
import GRDBSQLite

/// A row of what a statement answered, read to memory. Columns are found by their names as the statement spells them.
///
/// GRDB's own row makes a dictionary of names in lower case for each execution and lower-cases each name that is asked
/// for: nearly half of what it cost to read them.
struct StoredRow: Sendable {
    /// A dozen short names are compared faster than one is hashed.
    fileprivate let columns: [String]
    fileprivate let values: [DatabaseValue]

    /// An optional for what may be NULL.
    subscript<Value: DatabaseValueConvertible>(column: String) -> Value {
        guard let index = columns.firstIndex(of: column) else { preconditionFailure("no column \(column)") }
        guard let value = Value.fromDatabaseValue(values[index]) else {
            preconditionFailure("\(column) holds no \(Value.self)")
        }
        return value
    }

    /// A column that holds one of the words of an enumeration, as its CHECK constraint guarantees.
    func word<Word: RawRepresentable<String>>(_ column: String) throws -> Word {
        guard let word = Word(rawValue: self[column]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an unknown word in \(column)")
        }
        return word
    }
}

/// Steps through a statement's rows, as GRDB's own cursors do.
private final class StoredRowCursor: DatabaseCursor {
    let _statement: Statement
    var _isDone = false

    init(_ statement: Statement, _ arguments: StatementArguments) throws {
        _statement = statement
        try statement.setArguments(arguments)
    }

    /// One that has failed says so once more.
    deinit { sqlite3_reset(_statement.sqliteStatement) }

    typealias Element = StoredRow

    func _element(sqliteStatement: SQLiteStatement) -> StoredRow {
        StoredRow(
            columns: _statement.columnNames,
            values: (0..<sqlite3_column_count(sqliteStatement)).map {
                DatabaseValue(sqliteStatement: sqliteStatement, index: $0)
            })
    }
}

extension Database {
    /// All rows, read to the end: a statement with RETURNING must be.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [StoredRow] {
        try Array(StoredRowCursor(cachedStatement(sql: sql), arguments))
    }

    func row(_ sql: String, _ arguments: StatementArguments = []) throws -> StoredRow? {
        try rows(sql, arguments).first
    }
}
