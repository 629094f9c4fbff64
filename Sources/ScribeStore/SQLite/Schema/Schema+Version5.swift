/// Version 5: the number of the state; where clients come from, and keys of clients that the operator API has made.
extension Schema {
    static let version5 = """
        -- One more with each reset and each restored snapshot. Credentials carry it.
        CREATE TABLE state (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            number INTEGER NOT NULL CHECK (number >= 1)
        ) STRICT;
        INSERT INTO state (id, number) VALUES (1, 1);
        -- The clients file or the demo, which replace their own at each start, or the operator API.
        ALTER TABLE clients ADD COLUMN origin TEXT NOT NULL DEFAULT 'file' CHECK (origin IN ('file', 'demo', 'api'));
        -- API keys of clients of the operator API.
        CREATE TABLE client_keys (
            key_hash BLOB NOT NULL PRIMARY KEY CHECK (length(key_hash) = 32),
            client_id TEXT NOT NULL REFERENCES clients ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_keys_by_client ON client_keys (client_id);
        """
}
