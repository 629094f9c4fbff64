/// Database session: runs statements within one SQL transaction, which its caller begins and ends.
///
/// A statement takes `?` or `?1` for each of its values and is prepared once per connection. All calls are synchronous:
/// they run on the database's own thread. A session is valid only within the closure that receives it.
protocol StoreSession {
    /// Runs a statement and reads all of its rows, also those of RETURNING.
    /// - Throws: the database's error, see ``StorageFailure``.
    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [StoredRow]

    /// Runs a statement without a result.
    func run(_ sql: String, _ arguments: SQLArguments) throws

    /// Number of rows that the last INSERT, UPDATE or DELETE has changed.
    func changedRows() throws -> Int

    /// The `id` of the row that was inserted last.
    func insertedID() throws -> Int64

    /// Runs `body` in a savepoint. Its changes are undone when it throws, and the SQL transaction goes on.
    func savepoint(_ body: () throws -> Void) throws

    /// SQL for a table of the elements of a JSON array of texts in parameter `number`. Its column is `value`.
    func list(_ number: Int) -> String

    /// SQL for a comparison with a JSON array of texts in parameter `number`: `WHERE id \(db.isAmong(2))`. An index of
    /// the column serves it.
    func isAmong(_ number: Int) -> String

    /// SQL for a comparison with a JSON array of integers in parameter `number`, like ``isAmong(_:)``.
    func isAmongIntegers(_ number: Int) -> String

    /// SQL for a text in a JSON column: `\(db.text("request", "patientDetails", "visit_id"))`. NULL where a member of
    /// the path is missing.
    func text(_ column: String, _ path: String...) -> String

    /// SQL for an element of an array of texts in a JSON column, from index 0. NULL where the element is missing.
    func text(_ column: String, _ key: String, _ index: Int) -> String

    /// SQL for a member of a JSON column, as JSON.
    func json(_ column: String, _ key: String) -> String

    /// SQL for a number in a JSON column. NULL where the member is missing.
    func number(_ column: String, _ key: String) -> String

    /// SQL for a table of the members of a JSON object in a column. Its column is `value`, JSON.
    func members(of column: String) -> String

    /// SQL for a text parameter that is ordered by bytes, as the columns are.
    func ordered(_ parameter: String) -> String

    /// SQL for a comparison with a pattern of LIKE, which ignores the case of letters. `\` escapes wildcards.
    func matches(_ expression: String, _ pattern: String) -> String

    /// SQL for an aggregate: all texts of a column, with a space between them.
    func joined(_ column: String) -> String
}

extension StoreSession {
    func rows(_ sql: String) throws -> [StoredRow] { try rows(sql, []) }

    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> StoredRow? { try rows(sql, arguments).first }

    func run(_ sql: String) throws { try run(sql, []) }

    /// Runs a statement, and returns the number of changed rows.
    func changed(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try run(sql, arguments)
        return try changedRows()
    }
}
