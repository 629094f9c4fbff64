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
            -- Header fields that the uploader wants in answers, by lower-case name.
            headers TEXT NOT NULL CHECK (json_valid(headers)),
            checksum_algorithm TEXT,
            -- In base64, as S3 gives it back; that of a composite one ends in the number of parts.
            checksum TEXT,
            -- Sizes of the parts of a multipart upload.
            parts TEXT CHECK (parts IS NULL OR json_valid(parts)),
            created_at INTEGER NOT NULL,
            UNIQUE (business_id, bucket, key),
            CHECK ((checksum IS NULL) = (checksum_algorithm IS NULL))
        ) STRICT;

        CREATE TABLE multipart_uploads (
            id INTEGER NOT NULL PRIMARY KEY,
            upload_id TEXT NOT NULL UNIQUE CHECK (upload_id <> ''),
            business_id TEXT NOT NULL CHECK (business_id <> ''),
            bucket TEXT NOT NULL CHECK (bucket <> ''),
            key TEXT NOT NULL CHECK (key <> ''),
            headers TEXT NOT NULL CHECK (json_valid(headers)),
            -- NULL if the client chose none.
            checksum_algorithm TEXT,
            is_composite INTEGER NOT NULL CHECK (is_composite IN (0, 1)),
            created_at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX multipart_uploads_by_age ON multipart_uploads (created_at);
        CREATE INDEX multipart_uploads_by_key ON multipart_uploads (business_id, bucket, key, upload_id);

        CREATE TABLE multipart_parts (
            upload INTEGER NOT NULL REFERENCES multipart_uploads ON DELETE CASCADE,
            number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 10000),
            file TEXT NOT NULL UNIQUE CHECK (file <> ''),
            size INTEGER NOT NULL CHECK (size >= 0),
            md5 TEXT NOT NULL CHECK (length(md5) = 32),
            -- Of the upload's algorithm, in base64.
            checksum TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (upload, number)
        ) STRICT, WITHOUT ROWID;
        """
}
