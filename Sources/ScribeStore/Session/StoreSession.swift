/// Statements within one SQL transaction, which its caller has begun and ends.
///
/// A statement takes `?` or `?1` for each of its values and is prepared once per connection. All calls are synchronous:
/// they run on the database's own thread. A session is good for the closure that it was given to.
protocol StoreSession {
    /// Runs a statement and reads all of its rows, as a statement with RETURNING needs.
    /// - Throws: what the database says, see ``StorageFailure``.
    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [StoredRow]

    /// Runs a statement that answers no rows.
    func run(_ sql: String, _ arguments: SQLArguments) throws

    /// Rows that the last INSERT, UPDATE or DELETE has changed.
    var changedRows: Int { get }

    /// The `id` of the row that was inserted last.
    var insertedID: Int64 { get }

    /// Does `body`; what it has changed is undone when it throws, and the SQL transaction goes on.
    func savepoint(_ body: () throws -> Void) throws

    /// The SQL of the rows of a JSON array that parameter `number` holds: `WHERE id IN \(db.list(2))`. Its column is `value`.
    func list(_ number: Int) -> String

    /// The SQL of a text within a column of JSON: `\(db.text("request", "flavour"))`. NULL where there is none.
    func text(_ column: String, _ key: String) -> String

    /// The same for an element of an array, from 0.
    func text(_ column: String, _ key: String, _ index: Int) -> String

    /// The SQL of a member within a column of JSON, as JSON.
    func json(_ column: String, _ key: String) -> String
}

extension StoreSession {
    func rows(_ sql: String) throws -> [StoredRow] { try rows(sql, []) }

    func row(_ sql: String, _ arguments: SQLArguments = []) throws -> StoredRow? { try rows(sql, arguments).first }

    func run(_ sql: String) throws { try run(sql, []) }

    /// Runs a statement, and says how many rows it has changed.
    func changed(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try run(sql, arguments)
        return changedRows
    }
}
