/// ``Schema`` in PostgreSQL, with tables that several servers share, and triggers that count.
enum PostgreSQLSchema {
    /// Version that this program reads and writes.
    static let latestVersion = 1

    /// A released version never changes.
    static var version1: String { Schema.forPostgreSQL + shared + triggers }

    private static let shared = """

        CREATE TABLE schema_version (version BIGINT NOT NULL);
        INSERT INTO schema_version VALUES (1);
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
        CREATE TABLE removed_objects (name TEXT COLLATE "C" NOT NULL PRIMARY KEY, removed_at BIGINT NOT NULL);

        """
}
