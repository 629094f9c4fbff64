/// Creates the schema, or migrates it.
extension PostgreSQLSchema {
    /// Lock that starts take one after the other, so that one of them migrates.
    private static let lock = 0x5343_5242

    /// Creates the schema in a database that has none, or migrates an older one. Blocking.
    /// - Throws: ``Store/Problem``.
    static func prepare(_ address: PostgreSQLAddress, _ library: LibPQ) throws {
        let connection: PostgreSQLConnection
        do {
            connection = try PostgreSQLConnection(administering: address.url, library: library)
        } catch {
            throw Store.Problem.noPostgreSQL(reason: "there is no memory for a connection")
        }
        if let problem = connection.problem { throw Store.Problem.noPostgreSQL(reason: problem) }
        guard connection.serverVersion >= 140_000 else {
            throw Store.Problem.noPostgreSQL(reason: "PostgreSQL 14 or later is needed")
        }
        do {
            try connection.execute(address.setup)
            try connection.execute("SELECT pg_advisory_lock(\(lock))")
            let version = try version(in: address.schema, connection)
            guard version <= latestVersion else { throw Store.Problem.newerSchema(path: address.shown) }
            if version == 0 {
                try connection.execute(
                    """
                    BEGIN; CREATE SCHEMA IF NOT EXISTS "\(address.schema)"; \(version1); COMMIT
                    """)
            }
        } catch PostgreSQLError.refused(let state) {
            let reason = state.hasPrefix("42501") ? "the user may not create the schema" : "SQLSTATE \(state)"
            throw Store.Problem.noPostgreSQL(reason: reason)
        }
    }

    /// Version of the schema; 0 if it is not there or empty.
    /// - Throws: ``Store/Problem/foreign(path:)`` for a schema of another program.
    private static func version(in schema: String, _ connection: PostgreSQLConnection) throws -> Int {
        let tables = try connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '\(schema)'")
        guard !tables.isEmpty else { return 0 }
        guard tables.contains("schema_version") else { throw Store.Problem.foreign(path: "schema \(schema)") }
        return Int(try connection.execute("SELECT version FROM schema_version").first.flatMap(\.self) ?? "") ?? 0
    }
}
