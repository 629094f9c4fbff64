import GRDB

/// Migrations of the releases before the schema had a version. ``Schema/prepare(_:)`` runs those that a file lacks, and
/// then marks the file as version 1. A test proves that they make version 1.
///
/// This list never grows. The release after next removes this file.
enum LegacyMigrations {
    /// Webhook styles that version 1 allows; version 2 allows any style.
    static let webhookStyles = "'connect', 'alliance', 'suki'"

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

    /// Clients, transactions, objects, jobs and results.
    private static let foundations = """
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

    /// Recreates `documents` for further kinds, because a CHECK cannot be changed.
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

    private static let audioQuality = """
        ALTER TABLE transactions ADD COLUMN audio_quality REAL CHECK (audio_quality BETWEEN 0 AND 1);
        """

    /// Recreates `jobs`, because AUTOINCREMENT cannot be added. A late write for a removed job must not find another
    /// job under its id.
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

    /// Adds the family of a refresh token: the hash of the token that was issued at login. Older tokens have no known
    /// family, so that each begins one.
    private static let refreshFamilies = """
        ALTER TABLE refresh_tokens ADD COLUMN family BLOB CHECK (length(family) = 32);
        UPDATE refresh_tokens SET family = token_hash;
        CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family);
        CREATE INDEX refresh_tokens_by_client ON refresh_tokens (client_id);
        """

    private static let turns = """
        ALTER TABLE jobs ADD COLUMN business_id TEXT NOT NULL DEFAULT '';
        UPDATE jobs SET business_id = (SELECT business_id FROM transactions WHERE transactions.id = transaction_id);
        CREATE INDEX jobs_by_business ON jobs (business_id, run_at) WHERE state = 'pending';
        CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
        CREATE INDEX multipart_uploads_by_key ON multipart_uploads (business_id, bucket, key, upload_id);
        """

    private static let quotas = """
        CREATE INDEX objects_by_size ON objects (business_id, size);
        CREATE INDEX transactions_open ON transactions (client_id, created_at)
            WHERE user_status IN ('init', 'stopped') AND archived_at IS NULL;
        """

    /// Recreates `jobs` for note jobs, because a CHECK cannot be changed. Each kind has its own index.
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

    /// Adds conversations of devices, and memories.
    private static let conversations = """
        CREATE TABLE conversations (
            id INTEGER NOT NULL PRIMARY KEY,
            conversation_id TEXT NOT NULL UNIQUE CHECK (conversation_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            doctor_id TEXT NOT NULL,
            client_id TEXT NOT NULL,
            status TEXT NOT NULL CHECK (status IN ('in_progress', 'processing', 'merging', 'completed', 'failed')),
            source TEXT NOT NULL,
            language TEXT,
            visibility TEXT NOT NULL DEFAULT 'private',
            created_at INTEGER NOT NULL,
            started_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL,
            -- In seconds.
            timeout INTEGER NOT NULL CHECK (timeout > 0),
            -- Of all segments, in bytes.
            text_size INTEGER NOT NULL DEFAULT 0,
            summary TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(summary)),
            urgency TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(urgency))
        ) STRICT;
        -- One user has one conversation at a time.
        CREATE UNIQUE INDEX conversations_in_progress ON conversations (business_id, user_id)
            WHERE status = 'in_progress';
        CREATE INDEX conversations_by_user ON conversations (business_id, user_id, created_at);
        CREATE INDEX conversations_unfinished ON conversations (status, finished_at)
            WHERE status IN ('in_progress', 'processing');

        CREATE TABLE segments (
            id INTEGER NOT NULL PRIMARY KEY,
            conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
            segment_id TEXT NOT NULL CHECK (segment_id <> ''),
            text TEXT NOT NULL CHECK (text <> ''),
            speaker TEXT NOT NULL CHECK (speaker <> ''),
            is_user INTEGER NOT NULL CHECK (is_user IN (0, 1)),
            person_id TEXT,
            start REAL NOT NULL,
            end REAL NOT NULL,
            provider TEXT,
            confidence REAL CHECK (confidence BETWEEN 0 AND 1),
            UNIQUE (conversation, segment_id)
        ) STRICT;

        CREATE TABLE photos (
            id INTEGER NOT NULL PRIMARY KEY,
            conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
            photo_id TEXT NOT NULL UNIQUE CHECK (photo_id <> ''),
            base64 TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX photos_by_conversation ON photos (conversation);

        CREATE TABLE memories (
            id INTEGER NOT NULL PRIMARY KEY,
            memory_id TEXT NOT NULL UNIQUE CHECK (memory_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            conversation_id TEXT,
            content TEXT NOT NULL CHECK (content <> ''),
            -- By which the same is found again.
            folded TEXT NOT NULL,
            category TEXT NOT NULL,
            visibility TEXT NOT NULL,
            is_edited INTEGER NOT NULL DEFAULT 0 CHECK (is_edited IN (0, 1)),
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX memories_by_user ON memories (business_id, user_id, created_at);
        CREATE INDEX memories_by_content ON memories (business_id, user_id, folded);
        """

    /// Adds webhooks and deliveries.
    private static let webhooks = """
        CREATE TABLE webhooks (
            -- Never given twice: clients know a registration by it.
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            style TEXT NOT NULL CHECK (style IN ('connect', 'alliance')),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            client_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            endpoint TEXT NOT NULL CHECK (endpoint <> ''),
            -- By their names; empty for all.
            events TEXT NOT NULL CHECK (json_valid(events)),
            signing_key TEXT CHECK (signing_key <> ''),
            scheme TEXT NOT NULL,
            -- Between one attempt and the next, in milliseconds.
            pauses TEXT NOT NULL CHECK (json_valid(pauses)),
            created_at INTEGER NOT NULL,
            removed_at INTEGER
        ) STRICT;
        CREATE INDEX webhooks_by_business ON webhooks (business_id) WHERE removed_at IS NULL;
        CREATE UNIQUE INDEX webhooks_by_endpoint ON webhooks (business_id, endpoint)
            WHERE removed_at IS NULL AND style = 'connect';

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
            state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sending', 'delivered', 'failed')),
            attempts INTEGER NOT NULL DEFAULT 0,
            occurred_at INTEGER NOT NULL,
            -- Since when it is to be delivered: a replay begins anew.
            queued_at INTEGER NOT NULL,
            -- NULL: waits for an earlier one of its session, or for nothing any more.
            run_at INTEGER,
            problem TEXT,
            signature TEXT,
            settled_at INTEGER,
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

        -- Set while somebody is to be told of it.
        ALTER TABLE transactions ADD COLUMN expires_at INTEGER;
        CREATE INDEX transactions_expiring ON transactions (expires_at) WHERE expires_at IS NOT NULL;
        """

    /// Allows several documents of one template: each request for a template makes a document.
    private static let severalDocuments = """
        DROP INDEX documents_by_template;
        CREATE INDEX documents_by_template ON documents (transaction_id, kind, template_id) WHERE is_authored = 0;
        """

    /// Adds ambient sessions and the clinicians of partners.
    ///
    /// Recreates two tables, because a CHECK cannot be changed.
    private static let ambient = """
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
            style TEXT NOT NULL CHECK (style IN (\(webhookStyles))),
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

    /// Adds the stored bytes of each business, counted by triggers.
    private static let storage = """
        CREATE TABLE storage (
            business_id TEXT NOT NULL PRIMARY KEY CHECK (business_id <> ''),
            objects INTEGER NOT NULL CHECK (objects >= 0),
            bytes INTEGER NOT NULL CHECK (bytes >= 0)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO storage SELECT business_id, count(*), sum(size) FROM objects GROUP BY business_id;

        CREATE TRIGGER object_stored AFTER INSERT ON objects BEGIN
            INSERT INTO storage VALUES (NEW.business_id, 1, NEW.size)
            ON CONFLICT (business_id) DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER object_replaced AFTER UPDATE OF size ON objects BEGIN
            UPDATE storage SET bytes = bytes + NEW.size - OLD.size WHERE business_id = NEW.business_id;
        END;
        CREATE TRIGGER object_removed AFTER DELETE ON objects BEGIN
            UPDATE storage SET objects = objects - 1, bytes = bytes - OLD.size WHERE business_id = OLD.business_id;
        END;

        DROP INDEX objects_by_size;
        """

    /// Counts stored data beside objects too: documents, pictures, preferences, and parts of uploads.
    private static let content = """
        ALTER TABLE objects ADD COLUMN disposition TEXT;
        ALTER TABLE multipart_uploads ADD COLUMN disposition TEXT;

        -- Of what is stored beside objects, in bytes.
        ALTER TABLE storage ADD COLUMN content INTEGER NOT NULL DEFAULT 0 CHECK (content >= 0);
        DROP TRIGGER object_stored;
        CREATE TRIGGER object_stored AFTER INSERT ON objects BEGIN
            INSERT INTO storage (business_id, objects, bytes) VALUES (NEW.business_id, 1, NEW.size)
            ON CONFLICT (business_id) DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes;
        END;

        \(countAllContent)

        \(counting("document", in: "documents", size: size(ofDocument:), of: "transactions", by: "transaction_id",
            columns: "value, editor_content, publication"))
        \(counting("photo", in: "photos", size: { "length(\($0).base64)" }, of: "conversations", by: "conversation",
            columns: "base64"))
        \(counting("part", in: "multipart_parts", size: { "\($0).size" }, of: "multipart_uploads", by: "upload",
            columns: "size"))

        CREATE TRIGGER preferences_stored AFTER INSERT ON preferences BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            VALUES (NEW.business_id, 0, 0, length(CAST(NEW.data AS BLOB)))
            ON CONFLICT (business_id) DO UPDATE SET content = content + excluded.content;
        END;
        CREATE TRIGGER preferences_replaced AFTER UPDATE OF data ON preferences BEGIN
            UPDATE storage
            SET content = max(0, content + length(CAST(NEW.data AS BLOB)) - length(CAST(OLD.data AS BLOB)))
            WHERE business_id = NEW.business_id;
        END;
        """

    /// Adds the flag of notes that were written through their link: the link answers their text unchanged until another
    /// edit.
    private static let linkedNotes = """
        ALTER TABLE documents ADD COLUMN is_plain_by_link INTEGER NOT NULL DEFAULT 0 CHECK (is_plain_by_link IN (0, 1));
        CREATE TRIGGER documents_edited_elsewhere AFTER UPDATE OF value ON documents WHEN NEW.is_plain_by_link
        BEGIN
            UPDATE documents SET is_plain_by_link = 0 WHERE id = NEW.id;
        END;
        """

    /// Recounts content that was stored before its triggers.
    static let countAllContent = """
        INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, sum(size) FROM (
                SELECT business_id, \(size(ofDocument: "documents")) AS size
                    FROM documents JOIN transactions ON transactions.id = transaction_id
                UNION ALL SELECT business_id, length(base64)
                    FROM photos JOIN conversations ON conversations.id = conversation
                UNION ALL SELECT business_id, length(CAST(data AS BLOB)) FROM preferences
                UNION ALL SELECT business_id, size
                    FROM multipart_parts JOIN multipart_uploads ON multipart_uploads.id = upload
            ) WHERE true GROUP BY business_id
            ON CONFLICT (business_id) DO UPDATE SET content = excluded.content;
        """

    private static func size(ofDocument row: String) -> String {
        // Most documents have an empty publication, which counts nothing.
        ["\(row).value", "\(row).editor_content", "nullif(\(row).publication, '{}')"]
            .map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    }

    /// Makes triggers that count the rows of a table for the business of their parent. Rows are deleted after their
    /// parent, so that a trigger on the parent subtracts their sizes first.
    /// - Parameters:
    ///   - name: the name of one row, in the names of the triggers.
    ///   - size: makes the SQL expression of a row's size in bytes, from the name of the row.
    ///   - columns: the columns that the size depends on.
    private static func counting(
        _ name: String, in table: String, size: (String) -> String, of parents: String, by parent: String,
        columns: String
    ) -> String {
        """
        CREATE TRIGGER \(name)_stored AFTER INSERT ON \(table) WHEN \(size("NEW")) > 0 BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, \(size("NEW")) FROM \(parents) WHERE id = NEW.\(parent)
            ON CONFLICT (business_id) DO UPDATE SET content = content + excluded.content;
        END;
        CREATE TRIGGER \(name)_replaced AFTER UPDATE OF \(columns) ON \(table)
        WHEN \(size("NEW")) <> \(size("OLD")) BEGIN
            INSERT INTO storage (business_id, objects, bytes, content)
            SELECT business_id, 0, 0, max(0, \(size("NEW")) - (\(size("OLD")))) FROM \(parents) WHERE id = NEW.\(parent)
            ON CONFLICT (business_id) DO UPDATE SET content = max(0, content + \(size("NEW")) - (\(size("OLD"))));
        END;
        CREATE TRIGGER \(name)_removed AFTER DELETE ON \(table) BEGIN
            UPDATE storage SET content = max(0, content - (\(size("OLD"))))
            WHERE business_id = (SELECT business_id FROM \(parents) WHERE id = OLD.\(parent));
        END;
        CREATE TRIGGER \(parents)_with_\(name)s_removed BEFORE DELETE ON \(parents) BEGIN
            UPDATE storage SET content = max(0, content - (
                SELECT coalesce(sum(\(size(table))), 0) FROM \(table) WHERE \(table).\(parent) = OLD.id))
            WHERE business_id = OLD.business_id;
        END;
        """
    }
}
