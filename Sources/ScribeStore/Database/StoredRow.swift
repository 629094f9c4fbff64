/// Row of a statement's result, copied to memory. Column names must match the statement's spelling.
///
/// GRDB's own row makes a dictionary of lower-case names for each execution, and lower-cases each requested name: that
/// was nearly half of the cost of reading.
struct StoredRow: Sendable {
    /// Column names, in order. A search among a dozen short names is faster than a hash.
    let columns: [String]
    let values: [SQLValue]

    /// Reads a column. Columns that may be NULL need an optional type.
    subscript<Value: SQLConvertible>(column: String) -> Value {
        guard let index = columns.firstIndex(of: column) else { preconditionFailure("no column \(column)") }
        guard let value = Value(sqlValue: values[index]) else {
            preconditionFailure("\(column) holds no \(Value.self)")
        }
        return value
    }

    /// Reads a column with a word of an enumeration, as its CHECK constraint guarantees.
    func word<Word: RawRepresentable<String>>(_ column: String) throws -> Word {
        guard let word = Word(rawValue: self[column]) else {
            throw UnknownWord(column: column)
        }
        return word
    }
}

/// Error for a word in a column that this version does not know.
struct UnknownWord: Error, CustomStringConvertible {
    let column: String

    var description: String { "an unknown word in \(column)" }
}
