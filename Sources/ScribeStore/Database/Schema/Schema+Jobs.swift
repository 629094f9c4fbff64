/// Version 1: jobs that wait or run, and the leases of other work.
extension Schema {
    static let jobs = """
        CREATE TABLE jobs (
            -- Ids are never reused, so that a late runner cannot end another job.
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (\(column("kind", isOneOf: "transcribe assemble note"))),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            business_id TEXT NOT NULL,
            -- The chunk to transcribe, or the document to write; empty for the one job that assembles the results.
            subject TEXT NOT NULL CHECK ((kind = 'assemble') = (subject = '')),
            etag TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running')),
            attempts INTEGER NOT NULL DEFAULT 0,
            -- NULL: waits to be woken by another job.
            run_at INTEGER,
            -- Counts the claims of a job: a process that is late with a job that was taken over stores nothing.
            claim INTEGER NOT NULL DEFAULT 0,
            -- The process that has claimed it last.
            owner TEXT,
            UNIQUE (transaction_id, kind, subject),
            CHECK (state = 'pending' OR owner IS NOT NULL)
        ) STRICT;
        CREATE INDEX jobs_by_time ON jobs (kind, run_at) WHERE state = 'pending';
        CREATE INDEX jobs_by_business ON jobs (kind, business_id, run_at) WHERE state = 'pending';
        CREATE INDEX jobs_running ON jobs (owner) WHERE state = 'running';

        -- Processes that share the data, and the lanes of deliveries and chores that they have claimed.
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
            owner TEXT NOT NULL CHECK (owner <> ''),
            -- By the machine's clock.
            lease_until INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """
}
