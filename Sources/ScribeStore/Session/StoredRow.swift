import ScribeDomain

/// A row of what a statement answered, read to memory. Columns are found by their names as the statement spells them.
///
/// GRDB's own row makes a dictionary of names in lower case for each execution and lower-cases each name that is asked
/// for: nearly half of what it cost to read them.
struct StoredRow: Sendable {
    /// A dozen short names are compared faster than one is hashed.
    let columns: [String]
    let values: [SQLValue]

    /// An optional for what may be NULL.
    subscript<Value: SQLConvertible>(column: String) -> Value {
        guard let index = columns.firstIndex(of: column) else { preconditionFailure("no column \(column)") }
        guard let value = Value(sqlValue: values[index]) else {
            preconditionFailure("\(column) holds no \(Value.self)")
        }
        return value
    }

    /// A column that holds one of the words of an enumeration, as its CHECK constraint guarantees.
    func word<Word: RawRepresentable<String>>(_ column: String) throws -> Word {
        guard let word = Word(rawValue: self[column]) else {
            throw UnknownWord(column: column)
        }
        return word
    }
}

/// A column holds a word that this version does not know.
struct UnknownWord: Error, CustomStringConvertible {
    let column: String

    var description: String { "an unknown word in \(column)" }
}
