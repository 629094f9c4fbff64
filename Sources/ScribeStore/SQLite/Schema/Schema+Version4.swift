/// Version 4: leases of jobs, lanes and chores; the change number of a transaction; device logins.
extension Schema {
    static let version4 = """
        -- Counts the claims of a job: a process that is late with a job that was taken over stores nothing.
        ALTER TABLE jobs ADD COLUMN claim INTEGER NOT NULL DEFAULT 0;
        -- The process that has claimed it last.
        ALTER TABLE jobs ADD COLUMN owner TEXT;
        -- By the machine's clock; NULL for a process that is alone.
        ALTER TABLE jobs ADD COLUMN lease_until INTEGER;
        -- Lanes of deliveries and chores that a process has claimed.
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
            owner TEXT NOT NULL CHECK (owner <> ''),
            -- By the machine's clock.
            lease_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- One more with each change of the transaction or its results.
        ALTER TABLE transactions ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
        -- Logins on devices without a form (RFC 8628), until they are over.
        CREATE TABLE device_logins (
            id INTEGER NOT NULL PRIMARY KEY,
            device_hash BLOB NOT NULL UNIQUE CHECK (length(device_hash) = 32),
            -- As people type it, without the hyphen.
            user_code TEXT NOT NULL UNIQUE CHECK (length(user_code) = 8),
            redirect TEXT,
            address TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'denied')),
            -- Whom it was approved by, and acts for.
            client_id TEXT CHECK ((client_id IS NOT NULL) = (state = 'approved')),
            -- By the machine's clock, as all times here.
            expires_at INTEGER NOT NULL,
            clock_offset INTEGER NOT NULL DEFAULT 0,
            asked_at INTEGER
        ) STRICT;
        CREATE INDEX device_logins_by_address ON device_logins (address);
        -- How often something was registered anew, such as the clients of the clients file.
        CREATE TABLE generations (
            name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
