/// Version 1: results of transactions, templates that a business has made, and feedback on results.
extension Schema {
    static let documents = """
        CREATE TABLE documents (
            id INTEGER NOT NULL PRIMARY KEY,
            document_id TEXT NOT NULL UNIQUE CHECK (document_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (\(column("kind", isOneOf: "transcript custom integration notes context"))),
            template_id TEXT NOT NULL CHECK (template_id <> ''),
            name TEXT NOT NULL,
            format TEXT NOT NULL,
            language TEXT,
            status TEXT NOT NULL CHECK (\(column("status", isOneOf: "in-progress success partial_success failure"))),
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
            publication TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(publication)),
            editor_content TEXT CHECK (editor_content IS NULL OR json_valid(editor_content)),
            -- The note's link gives the text as it was put there, until the note is edited elsewhere.
            is_plain_by_link INTEGER NOT NULL DEFAULT 0 CHECK (is_plain_by_link IN (0, 1)),
            CHECK (status NOT IN ('success', 'partial_success') OR value IS NOT NULL),
            CHECK (status <> 'failure' OR errors <> '[]')
        ) STRICT;
        CREATE INDEX documents_by_transaction ON documents (transaction_id);
        -- Not unique: each time that a session's client asks for a template it gets a document.
        CREATE INDEX documents_by_template ON documents (transaction_id, kind, template_id) WHERE is_authored = 0;

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

        CREATE TABLE feedback (
            id INTEGER NOT NULL PRIMARY KEY,
            feedback_id TEXT NOT NULL UNIQUE CHECK (feedback_id <> ''),
            transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
            entity TEXT NOT NULL CHECK (entity <> ''),
            min_rating INTEGER NOT NULL,
            max_rating INTEGER NOT NULL CHECK (max_rating > min_rating),
            rating INTEGER NOT NULL CHECK (rating BETWEEN min_rating AND max_rating),
            -- In bytes: the limit of the API is in characters as people count, which databases cannot count.
            comments TEXT CHECK (length(CAST(comments AS BLOB)) <= 65536),
            created_at INTEGER NOT NULL,
            UNIQUE (transaction_id, entity)
        ) STRICT;
        """
}
