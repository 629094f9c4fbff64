/// Version 1: webhook registrations and their deliveries.
extension Schema {
    static let webhooks = """
        CREATE TABLE webhooks (
            -- Ids are never reused: clients know a registration by its id.
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            -- The API that it was registered by, in the word of its family.
            style TEXT NOT NULL CHECK (style <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            client_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            endpoint TEXT NOT NULL CHECK (endpoint <> ''),
            -- Whether a business may have only one of its style and endpoint.
            is_unique INTEGER NOT NULL DEFAULT 0 CHECK (is_unique IN (0, 1)),
            -- By their names; empty for all.
            events TEXT NOT NULL CHECK (json_valid(events)),
            signing_key TEXT CHECK (signing_key <> ''),
            scheme TEXT NOT NULL,
            -- Between one attempt and the next, in milliseconds.
            pauses TEXT NOT NULL CHECK (json_valid(pauses)),
            -- Whether an operator has paused it.
            is_paused INTEGER NOT NULL DEFAULT 0 CHECK (is_paused IN (0, 1)),
            created_at INTEGER NOT NULL,
            removed_at INTEGER
        ) STRICT;
        CREATE INDEX webhooks_by_business ON webhooks (business_id) WHERE removed_at IS NULL;
        CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (business_id, style, endpoint)
            WHERE removed_at IS NULL AND is_unique = 1;

        CREATE TABLE deliveries (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            lane TEXT NOT NULL CHECK (lane <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            -- NULL for a callback, whose address and message stand here.
            webhook INTEGER REFERENCES webhooks,
            event TEXT,
            -- The transaction's id, or the request's that asked for a callback.
            session TEXT NOT NULL CHECK (session <> ''),
            address TEXT,
            method TEXT,
            headers TEXT CHECK (headers IS NULL OR json_valid(headers)),
            -- Gone once it is delivered, and a day after it has failed: it may hold what a patient has said.
            body BLOB,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (\(column("state", isOneOf: "pending sending delivered failed"))),
            attempts INTEGER NOT NULL DEFAULT 0,
            occurred_at INTEGER NOT NULL,
            -- Since when it is to be delivered: a replay begins anew.
            queued_at INTEGER NOT NULL,
            -- NULL: waits for an earlier one of its session, or for nothing any more.
            run_at INTEGER,
            problem TEXT,
            signature TEXT,
            settled_at INTEGER,
            -- What the message says beside the event, as it was when the event came true.
            detail TEXT CHECK (detail IS NULL OR json_valid(detail)),
            CHECK ((webhook IS NULL) = (event IS NULL)),
            CHECK ((webhook IS NULL) = (address IS NOT NULL)),
            CHECK ((settled_at IS NULL) = (state IN ('pending', 'sending'))),
            CHECK (webhook IS NOT NULL OR body IS NOT NULL OR settled_at IS NOT NULL)
        ) STRICT;
        CREATE INDEX deliveries_pending ON deliveries (lane, run_at) WHERE state = 'pending';
        CREATE INDEX deliveries_sending ON deliveries (id) WHERE state = 'sending';
        CREATE INDEX deliveries_failed ON deliveries (webhook, id) WHERE state = 'failed';
        CREATE INDEX deliveries_by_failure ON deliveries (settled_at, id) WHERE state = 'failed';
        CREATE INDEX deliveries_delivered ON deliveries (settled_at) WHERE state = 'delivered';
        CREATE INDEX deliveries_of_session ON deliveries (webhook, session) WHERE settled_at IS NULL;
        CREATE INDEX deliveries_by_session ON deliveries (business_id, session, id);
        """
}
