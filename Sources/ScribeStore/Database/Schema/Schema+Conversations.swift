/// Version 1: conversations of devices, with segments, photos and memories.
extension Schema {
    static let conversations = """
        CREATE TABLE conversations (
            id INTEGER NOT NULL PRIMARY KEY,
            conversation_id TEXT NOT NULL UNIQUE CHECK (conversation_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            user_id TEXT NOT NULL,
            doctor_id TEXT NOT NULL,
            client_id TEXT NOT NULL,
            status TEXT NOT NULL CHECK (\(column("status", isOneOf: "in_progress processing merging completed failed"))),
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
            "end" REAL NOT NULL,
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
}
