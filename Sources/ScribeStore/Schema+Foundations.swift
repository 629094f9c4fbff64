/// The first migration: clients, transactions, objects, jobs and results.
extension Schema {
    static let foundations = """
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
            rotated_at INTEGER
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);

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
            user_status TEXT NOT NULL CHECK (user_status IN ('init', 'stopped', 'commit', 'cancelled')),
            processing_status TEXT NOT NULL CHECK (
                processing_status IN ('in-progress', 'success', 'system_failure', 'request_failure', 'cancelled')
            ),
            stopped_files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(stopped_files)),
            chunk_times TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(chunk_times)),
            committed_files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(committed_files)),
            -- Counts the commits that started processing: results of an earlier one are not written over a later one's.
            generation INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            committed_at INTEGER,
            processed_at INTEGER,
            UNIQUE (business_id, txn_id),
            CHECK (user_status <> 'commit' OR committed_at IS NOT NULL),
            CHECK (processed_at IS NULL OR processing_status <> 'in-progress')
        ) STRICT;
        CREATE INDEX transactions_by_folder ON transactions (business_id, bucket, folder);
        CREATE INDEX transactions_by_user ON transactions (business_id, user_id, created_at);
        CREATE INDEX transactions_by_client ON transactions (client_id);

        CREATE TABLE objects (
            id INTEGER NOT NULL PRIMARY KEY,
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            bucket TEXT NOT NULL CHECK (bucket <> ''),
            key TEXT NOT NULL CHECK (key <> ''),
            -- The name of the file that holds the bytes. The row is the truth: a file without one is swept away.
            file TEXT NOT NULL UNIQUE CHECK (file <> ''),
            size INTEGER NOT NULL CHECK (size >= 0),
            -- Says whether the bytes are the same: their MD5, or, of a multipart upload, that of its parts' MD5s.
            etag TEXT NOT NULL CHECK (etag <> ''),
            content_type TEXT,
            metadata TEXT NOT NULL CHECK (json_valid(metadata)),
            created_at INTEGER NOT NULL,
            UNIQUE (business_id, bucket, key)
        ) STRICT;

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

        CREATE TABLE documents (
            id INTEGER NOT NULL PRIMARY KEY,
            document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('transcript', 'custom', 'integration')),
            template_id TEXT NOT NULL CHECK (template_id <> ''),
            name TEXT NOT NULL,
            format TEXT NOT NULL,
            language TEXT,
            status TEXT NOT NULL CHECK (status IN ('in-progress', 'success', 'partial_success', 'failure')),
            value TEXT,
            errors TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(errors)),
            warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(warnings)),
            updated_at INTEGER NOT NULL,
            UNIQUE (transaction_id, kind, template_id),
            CHECK (status NOT IN ('success', 'partial_success') OR value IS NOT NULL),
            CHECK (status <> 'failure' OR errors <> '[]')
        ) STRICT;

        CREATE TABLE jobs (
            id INTEGER NOT NULL PRIMARY KEY,
            kind TEXT NOT NULL CHECK (kind IN ('transcribe', 'assemble')),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            -- The chunk to transcribe; empty for the one job that assembles the results.
            file_name TEXT NOT NULL CHECK ((kind = 'transcribe') = (file_name <> '')),
            etag TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running')),
            attempts INTEGER NOT NULL DEFAULT 0,
            -- NULL: waits to be woken by another job.
            run_at INTEGER,
            UNIQUE (transaction_id, kind, file_name)
        ) STRICT;
        CREATE INDEX jobs_by_time ON jobs (run_at) WHERE state = 'pending';
        """
}
