import GRDB

/// The migrations, in order. Append only: a database that was written by a release is migrated by every later one.
///
/// Times are milliseconds since 1970. `id` columns are internal; what the outside calls things is in the other columns,
/// always together with the business that it belongs to.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        for (name, sql) in migrations {
            migrator.registerMigration(name) { try $0.execute(sql: sql) }
        }
        return migrator
    }

    private static let migrations: [(name: String, sql: String)] = [
        ("001 foundations", foundations),
        ("002 multipart uploads", multipartUploads),
        ("003 templates, documents and feedback", templatesDocumentsFeedback),
        ("004 audio quality", audioQuality),
        ("005 jobs are never confused", jobs),
        ("006 documents of the editor", editorDocuments),
        ("007 families of refresh tokens", refreshFamilies),
        ("008 tenants take turns", turns),
        ("009 quotas", quotas),
        ("010 notes are jobs too", noteJobs),
        ("011 conversations", conversations),
        ("012 webhooks", webhooks),
        ("013 several documents of a template", severalDocuments),
        ("014 ambient sessions", ambient),
        ("015 storage is counted", storage),
        ("016 all content is counted", content),
        ("017 notes written by link", linkedNotes),
    ]

    /// A note's link gives its text as it was put there, until it is edited elsewhere.
    private static let linkedNotes = """
        ALTER TABLE documents ADD COLUMN is_plain_by_link INTEGER NOT NULL DEFAULT 0 CHECK (is_plain_by_link IN (0, 1));
        CREATE TRIGGER documents_edited_elsewhere AFTER UPDATE OF value ON documents WHEN NEW.is_plain_by_link
        BEGIN
            UPDATE documents SET is_plain_by_link = 0 WHERE id = NEW.id;
        END;
        """

    /// Each time that a session's client asks for a template it gets a document.
    private static let severalDocuments = """
        DROP INDEX documents_by_template;
        CREATE INDEX documents_by_template ON documents (transaction_id, kind, template_id) WHERE is_authored = 0;
        """

    /// Made anew because a CHECK cannot be changed. Each kind is looked for by itself.
    private static let noteJobs = """
        CREATE TABLE jobs_10 (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('transcribe', 'assemble', 'note')),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            business_id TEXT NOT NULL,
            -- The chunk to transcribe, or the document to write; empty for the one job that assembles the results.
            subject TEXT NOT NULL CHECK ((kind = 'assemble') = (subject = '')),
            etag TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running')),
            attempts INTEGER NOT NULL DEFAULT 0,
            -- NULL: waits to be woken by another job.
            run_at INTEGER,
            UNIQUE (transaction_id, kind, subject)
        ) STRICT;
        INSERT INTO jobs_10 SELECT
            id, kind, transaction_id, business_id, file_name, etag, state, attempts, run_at FROM jobs;
        DROP TABLE jobs;
        ALTER TABLE jobs_10 RENAME TO jobs;
        CREATE INDEX jobs_by_time ON jobs (kind, run_at) WHERE state = 'pending';
        CREATE INDEX jobs_by_business ON jobs (kind, business_id, run_at) WHERE state = 'pending';
        """

    private static let quotas = """
        CREATE INDEX objects_by_size ON objects (business_id, size);
        CREATE INDEX transactions_open ON transactions (client_id, created_at)
            WHERE user_status IN ('init', 'stopped') AND archived_at IS NULL;
        """

    private static let turns = """
        ALTER TABLE jobs ADD COLUMN business_id TEXT NOT NULL DEFAULT '';
        UPDATE jobs SET business_id = (SELECT business_id FROM transactions WHERE transactions.id = transaction_id);
        CREATE INDEX jobs_by_business ON jobs (business_id, run_at) WHERE state = 'pending';
        CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
        CREATE INDEX multipart_uploads_by_key ON multipart_uploads (business_id, bucket, key, upload_id);
        """

    /// A token's family is the hash of the one that was given at login. Of those from before nobody knows it, so that
    /// each begins one.
    private static let refreshFamilies = """
        ALTER TABLE refresh_tokens ADD COLUMN family BLOB CHECK (length(family) = 32);
        UPDATE refresh_tokens SET family = token_hash;
        CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);
        CREATE INDEX refresh_tokens_by_client ON refresh_tokens (client_id);
        """

    private static let audioQuality = """
        ALTER TABLE transactions ADD COLUMN audio_quality REAL CHECK (audio_quality BETWEEN 0 AND 1);
        """

    /// Made anew because AUTOINCREMENT cannot be added: who is late with a job that was taken away must not find
    /// another one under its id.
    private static let jobs = """
        CREATE TABLE jobs_5 (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
        INSERT INTO jobs_5 SELECT id, kind, transaction_id, file_name, etag, state, attempts, run_at FROM jobs;
        DROP TABLE jobs;
        ALTER TABLE jobs_5 RENAME TO jobs;
        CREATE INDEX jobs_by_time ON jobs (run_at) WHERE state = 'pending';
        """

    private static let editorDocuments = """
        ALTER TABLE documents ADD COLUMN publication TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(publication));
        ALTER TABLE documents ADD COLUMN editor_content TEXT CHECK (editor_content IS NULL OR json_valid(editor_content));
        """

    private static let multipartUploads = """
        CREATE TABLE multipart_uploads (
            id INTEGER NOT NULL PRIMARY KEY,
            upload_id TEXT NOT NULL UNIQUE CHECK (upload_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            bucket TEXT NOT NULL CHECK (bucket <> ''),
            key TEXT NOT NULL CHECK (key <> ''),
            content_type TEXT,
            metadata TEXT NOT NULL CHECK (json_valid(metadata)),
            created_at INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE multipart_parts (
            upload INTEGER NOT NULL REFERENCES multipart_uploads ON DELETE CASCADE,
            number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 10000),
            file TEXT NOT NULL UNIQUE CHECK (file <> ''),
            size INTEGER NOT NULL CHECK (size >= 0),
            md5 TEXT NOT NULL CHECK (length(md5) = 32),
            created_at INTEGER NOT NULL,
            PRIMARY KEY (upload, number)
        ) STRICT, WITHOUT ROWID;
        """

    /// Documents are made anew because a CHECK cannot be changed: there are further kinds of them now.
    private static let templatesDocumentsFeedback = """
        ALTER TABLE transactions ADD COLUMN archived_at INTEGER;
        ALTER TABLE transactions ADD COLUMN context TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(context));

        CREATE TABLE documents_3 (
            id INTEGER NOT NULL PRIMARY KEY,
            document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('transcript', 'custom', 'integration', 'notes', 'context')),
            template_id TEXT NOT NULL CHECK (template_id <> ''),
            name TEXT NOT NULL,
            format TEXT NOT NULL,
            language TEXT,
            status TEXT NOT NULL CHECK (status IN ('in-progress', 'success', 'partial_success', 'failure')),
            value TEXT,
            errors TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(errors)),
            warnings TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(warnings)),
            updated_at INTEGER NOT NULL,
            -- Written by a person: the server does not write over it.
            is_edited INTEGER NOT NULL DEFAULT 0 CHECK (is_edited IN (0, 1)),
            -- Made by a client through the documents API; it is no result of the transaction.
            is_authored INTEGER NOT NULL DEFAULT 0 CHECK (is_authored IN (0, 1)),
            created_at INTEGER NOT NULL,
            published_at INTEGER,
            archived_at INTEGER,
            CHECK (status NOT IN ('success', 'partial_success') OR value IS NOT NULL),
            CHECK (status <> 'failure' OR errors <> '[]')
        ) STRICT;
        INSERT INTO documents_3 (
            id, document_id, transaction_id, kind, template_id, name, format, language, status, value, errors, warnings,
            updated_at, created_at
        ) SELECT
            id, document_id, transaction_id, kind, template_id, name, format, language, status, value, errors, warnings,
            updated_at, updated_at
        FROM documents;
        DROP TABLE documents;
        ALTER TABLE documents_3 RENAME TO documents;
        CREATE UNIQUE INDEX documents_by_template ON documents (transaction_id, kind, template_id)
            WHERE is_authored = 0;
        CREATE INDEX documents_by_transaction ON documents (transaction_id);

        CREATE TABLE templates (
            id INTEGER NOT NULL PRIMARY KEY,
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            template_id TEXT NOT NULL UNIQUE CHECK (template_id <> ''),
            title TEXT NOT NULL CHECK (title <> ''),
            summary TEXT,
            section_ids TEXT NOT NULL CHECK (json_valid(section_ids)),
            created_at INTEGER NOT NULL,
            archived_at INTEGER
        ) STRICT;
        CREATE INDEX templates_by_business ON templates (business_id);

        CREATE TABLE template_sections (
            id INTEGER NOT NULL PRIMARY KEY,
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            section_id TEXT NOT NULL UNIQUE CHECK (section_id <> ''),
            title TEXT NOT NULL CHECK (title <> ''),
            summary TEXT NOT NULL,
            style TEXT NOT NULL CHECK (style IN ('P', 'B')),
            example TEXT NOT NULL,
            parent_id TEXT,
            created_at INTEGER NOT NULL,
            archived_at INTEGER
        ) STRICT;
        CREATE INDEX template_sections_by_business ON template_sections (business_id);

        -- An empty user stands for everyone of the business.
        CREATE TABLE preferences (
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            data TEXT NOT NULL CHECK (json_valid(data)),
            updated_at INTEGER NOT NULL,
            PRIMARY KEY (business_id, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE feedback (
            id INTEGER NOT NULL PRIMARY KEY,
            feedback_id TEXT NOT NULL UNIQUE CHECK (feedback_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            entity TEXT NOT NULL CHECK (entity <> ''),
            min_rating INTEGER NOT NULL,
            max_rating INTEGER NOT NULL CHECK (max_rating > min_rating),
            rating INTEGER NOT NULL CHECK (rating BETWEEN min_rating AND max_rating),
            comments TEXT CHECK (length(comments) <= 2000),
            created_at INTEGER NOT NULL,
            UNIQUE (transaction_id, entity)
        ) STRICT;
        """
}
