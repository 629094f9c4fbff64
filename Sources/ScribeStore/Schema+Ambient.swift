/// Visits that are recorded over sockets, and the clinicians whose they are.
extension Schema {
    /// Two tables are made anew because a CHECK cannot be changed.
    static let ambient = """
        ALTER TABLE transactions ADD COLUMN encounter_id TEXT CHECK (encounter_id <> '');
        CREATE INDEX transactions_by_encounter ON transactions (business_id, encounter_id, id)
            WHERE encounter_id IS NOT NULL;

        -- A stretch of a session's audio: its chunks are named after it.
        CREATE TABLE ambient_segments (
            id INTEGER NOT NULL PRIMARY KEY,
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            recording_id TEXT NOT NULL UNIQUE CHECK (recording_id <> ''),
            -- As its client says.
            started_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX ambient_segments_by_transaction ON ambient_segments (transaction_id, id);

        CREATE TABLE providers (
            id INTEGER NOT NULL PRIMARY KEY,
            partner_id TEXT NOT NULL CHECK (partner_id <> ''),
            -- As the partner's tokens call them.
            subject TEXT NOT NULL CHECK (subject <> ''),
            user_id TEXT NOT NULL UNIQUE CHECK (user_id <> ''),
            organisation TEXT NOT NULL,
            specialty TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            UNIQUE (partner_id, subject)
        ) STRICT;

        CREATE TABLE webhooks_14 (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            style TEXT NOT NULL CHECK (style IN ('connect', 'alliance', 'suki')),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            client_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            endpoint TEXT NOT NULL CHECK (endpoint <> ''),
            events TEXT NOT NULL CHECK (json_valid(events)),
            signing_key TEXT CHECK (signing_key <> ''),
            scheme TEXT NOT NULL,
            pauses TEXT NOT NULL CHECK (json_valid(pauses)),
            created_at INTEGER NOT NULL,
            removed_at INTEGER
        ) STRICT;
        INSERT INTO webhooks_14 SELECT * FROM webhooks;
        DROP TABLE webhooks;
        ALTER TABLE webhooks_14 RENAME TO webhooks;
        CREATE INDEX webhooks_by_business ON webhooks (business_id) WHERE removed_at IS NULL;
        CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (business_id, endpoint)
            WHERE removed_at IS NULL AND style = 'connect';

        -- Comments are as long as people count, which is not as the database does.
        CREATE TABLE feedback_14 (
            id INTEGER NOT NULL PRIMARY KEY,
            feedback_id TEXT NOT NULL UNIQUE CHECK (feedback_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            entity TEXT NOT NULL CHECK (entity <> ''),
            min_rating INTEGER NOT NULL,
            max_rating INTEGER NOT NULL CHECK (max_rating > min_rating),
            rating INTEGER NOT NULL CHECK (rating BETWEEN min_rating AND max_rating),
            comments TEXT CHECK (length(CAST(comments AS BLOB)) <= 65536),
            created_at INTEGER NOT NULL,
            UNIQUE (transaction_id, entity)
        ) STRICT;
        INSERT INTO feedback_14 SELECT * FROM feedback;
        DROP TABLE feedback;
        ALTER TABLE feedback_14 RENAME TO feedback;

        -- What a message says beside the event, as it was when the event came true.
        ALTER TABLE deliveries ADD COLUMN detail TEXT CHECK (detail IS NULL OR json_valid(detail));
        """
}
