/// Version 1: clients and their logins, clinicians of partners, preferences, and the number of the state.
extension Schema {
    static let accounts = """
        CREATE TABLE clients (
            client_id TEXT NOT NULL PRIMARY KEY CHECK (client_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            doctor_id TEXT NOT NULL,
            name TEXT NOT NULL,
            workspace TEXT NOT NULL,
            secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
            transaction_limit INTEGER CHECK (transaction_limit >= 0),
            -- The clients file or the demo, which replace their own at each start, or the operator API.
            origin TEXT NOT NULL DEFAULT 'file' CHECK (\(column("origin", isOneOf: "file demo api")))
        ) STRICT, WITHOUT ROWID;

        -- API keys of clients of the operator API.
        CREATE TABLE client_keys (
            key_hash BLOB NOT NULL PRIMARY KEY CHECK (length(key_hash) = 32),
            client_id TEXT NOT NULL REFERENCES clients ON DELETE CASCADE
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_keys_by_client ON client_keys (client_id);

        -- How often something was registered anew, such as the clients of the clients file.
        CREATE TABLE generations (
            name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE refresh_tokens (
            token_hash BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
            client_id TEXT NOT NULL REFERENCES clients ON DELETE CASCADE,
            expires_at INTEGER NOT NULL,
            rotated_at INTEGER,
            -- The hash of the token that was given at login: a stolen token ends all that came from the same login.
            family BLOB CHECK (length(family) = 32),
            -- How far the world's clock was ahead when the token was issued, in milliseconds.
            clock_offset INTEGER NOT NULL DEFAULT 0,
            -- A token of its login was used again after its grace. The row stays: it ends the login's access tokens.
            is_ended INTEGER NOT NULL DEFAULT 0 CHECK (is_ended IN (0, 1))
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
        CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);
        CREATE INDEX refresh_tokens_by_client ON refresh_tokens (client_id);
        CREATE INDEX refresh_tokens_ended ON refresh_tokens (family) WHERE is_ended = 1;

        -- Logins on devices without a form (RFC 8628), until they are over.
        CREATE TABLE device_logins (
            id INTEGER NOT NULL PRIMARY KEY,
            device_hash BLOB NOT NULL UNIQUE CHECK (length(device_hash) = 32),
            -- As people type it, without the hyphen.
            user_code TEXT NOT NULL UNIQUE CHECK (length(user_code) = 8),
            redirect TEXT,
            address TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (\(column("state", isOneOf: "pending approved denied"))),
            -- Client that approved the login, and that the device acts for.
            client_id TEXT CHECK ((client_id IS NOT NULL) = (state = 'approved')),
            -- By the machine's clock, as all times here.
            expires_at INTEGER NOT NULL,
            clock_offset INTEGER NOT NULL DEFAULT 0,
            asked_at INTEGER
        ) STRICT;
        CREATE INDEX device_logins_by_address ON device_logins (address);

        CREATE TABLE providers (
            id INTEGER NOT NULL PRIMARY KEY,
            partner_id TEXT NOT NULL CHECK (partner_id <> ''),
            -- The clinician's name in the partner's tokens.
            subject TEXT NOT NULL CHECK (subject <> ''),
            user_id TEXT NOT NULL UNIQUE CHECK (user_id <> ''),
            organisation TEXT NOT NULL,
            specialty TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            UNIQUE (partner_id, subject)
        ) STRICT;

        -- An empty user stands for everyone of the business.
        CREATE TABLE preferences (
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            data TEXT NOT NULL CHECK (json_valid(data)),
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (business_id, user_id)
        ) STRICT, WITHOUT ROWID;

        -- One more with each reset and each restored snapshot. Credentials carry it.
        CREATE TABLE state (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            number INTEGER NOT NULL CHECK (number >= 1)
        ) STRICT;
        INSERT INTO state (id, number) VALUES (1, 1);
        """
}
