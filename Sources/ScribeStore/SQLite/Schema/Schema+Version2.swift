/// Version 2: the kind of a recording, with the terms that only its family reads; webhooks of any style.
extension Schema {
    static let version2 = """
        \(kindsOfRecordings)
        \(stylesOfWebhooks)
        CREATE INDEX deliveries_by_session ON deliveries (business_id, session, id);
        """

    /// Adds the kind of a recording. A conversation's transaction has a folder with its own id as name. The
    /// conversation itself may be deleted, so the table of conversations cannot tell. The pattern is of the bucket for
    /// whole files.
    ///
    /// Terms that are not an object were never readable. They become an empty object, so that the file still opens.
    private static let kindsOfRecordings = """
        ALTER TABLE transactions ADD COLUMN kind TEXT NOT NULL DEFAULT 'transaction' CHECK (kind <> '');
        ALTER TABLE transactions ADD COLUMN terms TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(terms));
        UPDATE transactions SET kind = 'ambient',
            terms = iif(json_type(request, '$.ambient') = 'object', json_extract(request, '$.ambient'), '{}')
        WHERE encounter_id IS NOT NULL OR json_type(request, '$.ambient') = 'object';
        UPDATE transactions SET kind = 'session',
            terms = iif(json_type(request, '$.session') = 'object', json_extract(request, '$.session'), '{}')
        WHERE kind = 'transaction' AND json_extract(request, '$.session') IS NOT NULL;
        UPDATE transactions SET kind = 'conversation'
        WHERE kind = 'transaction' AND folder = 'conversations/' || txn_id AND bucket GLOB 'm-prod-*-batch';
        UPDATE transactions SET request = json_remove(request, '$.session', '$.ambient')
        WHERE json_type(request, '$.session') IS NOT NULL OR json_type(request, '$.ambient') IS NOT NULL;
        UPDATE transactions SET request = json_set(
            request, '$.intake', iif(kind = 'ambient', 'segments', 'arrived'))
        WHERE kind IN ('ambient', 'session');
        -- Where the client did not know its bucket, the audio is in the one that has its folder. Until now the URL in the
        -- request was read anew each time.
        UPDATE transactions SET bucket = found.bucket
        FROM (
            SELECT t.id, min(o.bucket) AS bucket
            FROM transactions AS t JOIN objects AS o ON o.business_id = t.business_id AND o.bucket GLOB 'm-prod-*-batch'
                AND o.key > t.folder || '/' AND o.key < t.folder || '0'
            WHERE lower(t.bucket) IN ('none', 'null', 'undefined') GROUP BY t.id
        ) AS found
        WHERE transactions.id = found.id;
        """

    /// Recreates `webhooks`, because a CHECK cannot be changed. The row of `sqlite_sequence` follows the table's name.
    private static let stylesOfWebhooks = """
        CREATE TABLE webhooks_2 (
            -- Never given twice: clients know a registration by it.
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
            created_at INTEGER NOT NULL,
            removed_at INTEGER
        ) STRICT;
        INSERT INTO sqlite_sequence (name, seq) SELECT 'webhooks_2', seq FROM sqlite_sequence WHERE name = 'webhooks';
        INSERT INTO webhooks_2
        SELECT id, style, business_id, client_id, user_id, endpoint, style = 'connect', events, signing_key, scheme,
            pauses, created_at, removed_at
        FROM webhooks;
        DROP TABLE webhooks;
        ALTER TABLE webhooks_2 RENAME TO webhooks;
        CREATE INDEX webhooks_by_business ON webhooks (business_id) WHERE removed_at IS NULL;
        CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (business_id, style, endpoint)
            WHERE removed_at IS NULL AND is_unique;
        """
}
