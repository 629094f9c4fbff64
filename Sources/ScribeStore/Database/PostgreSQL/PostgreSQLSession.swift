/// Store session on a connection to PostgreSQL, within its SQL transaction.
struct PostgreSQLSession: StoreSession {
    let connection: PostgreSQLConnection

    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [StoredRow] {
        try connection.rows(.of(sql), arguments)
    }

    func run(_ sql: String, _ arguments: SQLArguments) throws { try connection.send(.of(sql), arguments) }

    /// Sends a statement whose first value the connection notes.
    func note(_ sql: String, _ arguments: SQLArguments) throws {
        try connection.send(.of(sql), arguments, isNoted: true)
    }

    func changedRows() throws -> Int {
        try connection.finish()
        return connection.changedRows
    }

    func insertedID() throws -> Int64 { try rows("SELECT lastval() AS id", [])[0]["id"] }

    func savepoint(_ body: () throws -> Void) throws {
        try run("SAVEPOINT here", [])
        do {
            try body()
            try connection.finish()
        } catch {
            try run("ROLLBACK TO SAVEPOINT here", [])
            throw error
        }
        try run("RELEASE SAVEPOINT here", [])
    }

    // MARK: SQL that differs

    func list(_ number: Int) -> String {
        "(SELECT value FROM json_array_elements_text(\(Self.json("CAST(?\(number) AS TEXT)"))) AS list(value))"
    }

    // PostgreSQL looks each element of an array up in an index. A table it may join by reading all of the other one.
    func isAmong(_ number: Int) -> String { "= ANY(ARRAY\(list(number)))" }

    func isAmongIntegers(_ number: Int) -> String { "= ANY(CAST(ARRAY\(list(number)) AS BIGINT[]))" }

    func text(_ column: String, _ path: String...) -> String {
        "(\(Self.json(column)) #>> '{\(path.joined(separator: ","))}')"
    }

    func text(_ column: String, _ key: String, _ index: Int) -> String {
        "(\(Self.json(column)) #>> '{\(key),\(index)}')"
    }

    func json(_ column: String, _ key: String) -> String { "CAST(\(Self.json(column)) -> '\(key)' AS TEXT)" }

    func number(_ column: String, _ key: String) -> String {
        "CAST(\(Self.json(column)) ->> '\(key)' AS DOUBLE PRECISION)"
    }

    func members(of column: String) -> String {
        "(SELECT CAST(value AS TEXT) AS value FROM json_each(\(Self.json(column)))) AS members"
    }

    func ordered(_ parameter: String) -> String { "CAST(\(parameter) AS TEXT) COLLATE \"C\"" }

    func matches(_ expression: String, _ pattern: String) -> String { "\(expression) ILIKE \(pattern) ESCAPE '\\'" }

    func joined(_ column: String) -> String { "string_agg(\(column), ' ')" }

    /// Column as JSON. PostgreSQL reads no member of a JSON text with an escaped U+0000.
    private static func json(_ column: String) -> String { "CAST(replace(\(column), '\\u0000', '\\ufffd') AS json)" }
}
