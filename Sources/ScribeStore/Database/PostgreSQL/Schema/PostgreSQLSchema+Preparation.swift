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
                    BEGIN; CREATE SCHEMA IF NOT EXISTS "\(address.schema)";
                    CREATE TABLE schema_version (version BIGINT NOT NULL); INSERT INTO schema_version VALUES (1);
                    -- Keys of the server and tokens of operators, by name.
                    CREATE TABLE secrets (name TEXT COLLATE "C" NOT NULL PRIMARY KEY, value BYTEA NOT NULL);
                    -- Servers with open sockets of a session, and whether they were asked for the pending audio.
                    CREATE TABLE open_streams (
                        business_id TEXT COLLATE "C" NOT NULL,
                        txn_id TEXT COLLATE "C" NOT NULL,
                        owner TEXT COLLATE "C" NOT NULL,
                        is_asked BIGINT NOT NULL DEFAULT 0,
                        PRIMARY KEY (business_id, txn_id, owner)
                    );
                    -- Objects in S3 that nothing refers to.
                    CREATE TABLE removed_objects (
                        name TEXT COLLATE "C" NOT NULL PRIMARY KEY, removed_at BIGINT NOT NULL
                    );
                    \(version1)
                    INSERT INTO state (id, number) VALUES (1, 1); COMMIT
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
