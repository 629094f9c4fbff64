/// Version 1: objects of the S3 store, and multipart uploads in progress.
extension Schema {
    static let objects = """
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
            disposition TEXT,
            UNIQUE (business_id, bucket, key)
        ) STRICT;

        CREATE TABLE multipart_uploads (
            id INTEGER NOT NULL PRIMARY KEY,
            upload_id TEXT NOT NULL UNIQUE CHECK (upload_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            bucket TEXT NOT NULL CHECK (bucket <> ''),
            key TEXT NOT NULL CHECK (key <> ''),
            content_type TEXT,
            metadata TEXT NOT NULL CHECK (json_valid(metadata)),
            created_at INTEGER NOT NULL,
            disposition TEXT
        ) STRICT;
        CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
        CREATE INDEX multipart_uploads_by_key ON multipart_uploads (business_id, bucket, key, upload_id);

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
}
