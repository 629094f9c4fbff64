/// Version 1: clients and their logins, clinicians of partners, and preferences.
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
            transaction_limit INTEGER CHECK (transaction_limit >= 0)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE refresh_tokens (
            token_hash BLOB NOT NULL PRIMARY KEY CHECK (length(token_hash) = 32),
            client_id TEXT NOT NULL REFERENCES clients ON DELETE CASCADE,
            expires_at INTEGER NOT NULL,
            rotated_at INTEGER,
            -- The hash of the token that was given at login: a stolen token ends all that came from the same login.
            family BLOB CHECK (length(family) = 32)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
        CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);
        CREATE INDEX refresh_tokens_by_client ON refresh_tokens (client_id);

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
        """
}
