/// Version 1: transactions, their audio segments, and the transcripts of chunks.
extension Schema {
    static let recordings = """
        CREATE TABLE transactions (
            id INTEGER NOT NULL PRIMARY KEY,
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            txn_id TEXT NOT NULL CHECK (txn_id <> ''),
            user_id TEXT NOT NULL,
            doctor_id TEXT NOT NULL,
            client_id TEXT NOT NULL,
            patient_id TEXT,
            bucket TEXT,
            folder TEXT,
            -- Of the request, for the jobs of its chunks: to read all of it each time would cost more than they do.
            language TEXT,
            fixture TEXT,
            request TEXT NOT NULL CHECK (json_valid(request)),
            user_status TEXT NOT NULL CHECK (\(column("user_status", isOneOf: "init stopped commit cancelled"))),
            processing_status TEXT NOT NULL CHECK (
                \(column("processing_status", isOneOf: "in-progress success system_failure request_failure cancelled"))
            ),
            stopped_files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(stopped_files)),
            chunk_times TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(chunk_times)),
            committed_files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(committed_files)),
            -- Counts the commits that started processing: results of an earlier one are not written over a later one's.
            generation INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            committed_at INTEGER,
            processed_at INTEGER,
            archived_at INTEGER,
            context TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context)),
            audio_quality REAL CHECK (audio_quality BETWEEN 0 AND 1),
            -- Set only while a webhook is to be notified of the expiry.
            expires_at INTEGER,
            -- Of the last audio or message of a stream, where audio keeps the recording open.
            audio_at INTEGER,
            encounter_id TEXT CHECK (encounter_id <> ''),
            -- The API that it was started by, in the word of its family, and what that family alone reads.
            kind TEXT NOT NULL DEFAULT 'transaction' CHECK (kind <> ''),
            terms TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(terms)),
            UNIQUE (business_id, txn_id),
            CHECK (user_status <> 'commit' OR committed_at IS NOT NULL),
            CHECK (processed_at IS NULL OR processing_status <> 'in-progress')
        ) STRICT;
        CREATE INDEX transactions_by_folder ON transactions (business_id, bucket, folder);
        CREATE INDEX transactions_by_user ON transactions (business_id, user_id, created_at);
        CREATE INDEX transactions_by_client ON transactions (client_id);
        CREATE INDEX transactions_open ON transactions (client_id, created_at)
            WHERE user_status IN ('init', 'stopped') AND archived_at IS NULL;
        CREATE INDEX transactions_expiring ON transactions (expires_at) WHERE expires_at IS NOT NULL;
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

        CREATE TABLE chunk_transcripts (
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            file_name TEXT NOT NULL CHECK (file_name <> ''),
            -- What was transcribed: another upload under the same name is transcribed anew.
            etag TEXT NOT NULL CHECK (etag <> ''),
            speech TEXT CHECK (speech IS NULL OR json_valid(speech)),
            failure TEXT CHECK (failure IS NULL OR json_valid(failure)),
            created_at INTEGER NOT NULL,
            PRIMARY KEY (transaction_id, file_name),
            CHECK ((speech IS NULL) <> (failure IS NULL))
        ) STRICT, WITHOUT ROWID;
        """
}
