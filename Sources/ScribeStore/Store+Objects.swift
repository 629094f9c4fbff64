package import Foundation
import GRDB
package import ScribeDomain

/// A stored upload. The bytes are in a file; this is what is known of them.
package struct StoredObject: Hashable, Sendable {
    package let bucket: String
    package let key: String
    /// The name of the file among ``ObjectFiles``.
    package let file: String
    /// In bytes.
    package let size: Int
    /// Without its quotes: the MD5 in lower-case hex, or of a multipart upload `<hex>-<number of parts>`.
    package let eTag: String
    package let contentType: String?
    /// The `Content-Disposition` that its sender wants answers to have.
    package let disposition: String?
    /// The `x-amz-meta-` headers, without the prefix, in lower case.
    package let metadata: [String: String]
    package let createdAt: Date

    package init(
        bucket: String, key: String, file: String, size: Int, eTag: String, contentType: String?,
        disposition: String? = nil, metadata: [String: String], createdAt: Date
    ) {
        self.bucket = bucket
        self.key = key
        self.file = file
        self.size = size
        self.eTag = eTag
        self.contentType = contentType
        self.disposition = disposition
        self.metadata = metadata
        self.createdAt = createdAt
    }
}

extension Store {
    /// Stores an upload, replacing one of the same business, bucket and key.
    ///
    /// A numbered chunk of an open transaction gets a job to transcribe it early; a file that a committed
    /// transaction waits for wakes its job. All in the SQL transaction that makes the object exist.
    /// To a session nothing is added any more once it has ended, or its time is over; another file with a chunk's number
    /// takes its place, whatever its extension.
    /// - Returns: the files of what was replaced; nobody refers to them any more.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``.
    /// - Parameters:
    ///   - permitReplacing: gets the ETag of the object that is there, if any, and throws when it is to stay.
    ///   - isChunk: whether it takes the place of others with its number, as what a session's client puts at a number
    ///     does. What a form brings is called as its client likes.
    ///   - permit: gets the fixture of each transaction that the object belongs to, and throws when it is not to be
    ///     stored.
    package func put(
        _ object: StoredObject, business: BusinessID, isChunk: Bool = false,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in },
        permit: @escaping @Sendable (String?) throws(ScribeError) -> Void = { _ in }
    ) async throws -> [String] {
        try await writes.write { db, changes in
            try self.put(
                object, business: business, isChunk: isChunk, replacing: permitReplacing, permit, in: db, &changes)
        }
    }

    /// The object of that key, or nil.
    package func object(business: BusinessID, bucket: String, key: String) async throws -> StoredObject? {
        try await read { try Self.object(business: business, bucket: bucket, key: key, in: $0) }
    }

    /// Removes an object.
    /// - Returns: the file that held it, nil when there was none.
    package func deleteObject(business: BusinessID, bucket: String, key: String) async throws -> String? {
        try await writes.write { db in
            try db.row(
                "DELETE FROM objects WHERE business_id = ? AND bucket = ? AND key = ? RETURNING file",
                [business.rawValue, bucket, key]
            )?["file"]
        }
    }

    /// Up to `limit` objects of a bucket in the order of their keys' bytes, from the first key on that is greater
    /// than `after` and not less than `prefix`.
    package func objects(
        business: BusinessID, bucket: String, from prefix: String, after: String, limit: Int
    ) async throws -> [StoredObject] {
        try await read { db in
            try db.rows(
                """
                SELECT * FROM objects WHERE business_id = ? AND bucket = ? AND key >= ? AND key > ?
                ORDER BY key LIMIT ?
                """,
                [business.rawValue, bucket, prefix, after, limit]
            ).map(StoredObject.init(row:))
        }
    }

    /// The buckets that a business has put anything into, each with the time of its first object.
    package func buckets(business: BusinessID) async throws -> [(name: String, createdAt: Date)] {
        try await read { db in
            try db.rows(
                "SELECT bucket, min(created_at) AS time FROM objects WHERE business_id = ? GROUP BY bucket ORDER BY bucket",
                [business.rawValue]
            ).map { ($0["bucket"], Date(milliseconds: $0["time"])) }
        }
    }

    /// Which of these files hold neither an object nor a part of one.
    package func unusedFiles(among files: [String]) async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT value AS file FROM json_each(?)
                WHERE NOT EXISTS (SELECT 1 FROM objects WHERE objects.file = value)
                    AND NOT EXISTS (SELECT 1 FROM multipart_parts WHERE multipart_parts.file = value)
                """,
                [try StoredJSON.text(files)]
            ).map { $0["file"] }
        }
    }

    func put(
        _ object: StoredObject, business: BusinessID, isChunk: Bool = false,
        replacing permitReplacing: (String?) throws -> Void = { _ in },
        _ permit: (String?) throws(ScribeError) -> Void = { _ in }, in db: Database, _ changes: inout [Change]
    ) throws -> [String] {
        let replaced = try db.row(
            "SELECT file, etag FROM objects WHERE business_id = ? AND bucket = ? AND key = ?",
            [business.rawValue, object.bucket, object.key]
        )
        try permitReplacing(replaced?["etag"])
        try withinQuota(of: business, in: db) { try Self.write(object, business: business, in: db) }
        let isOfSession = try makeWork(for: object, business: business, permit, in: db, &changes)
        let twins = isOfSession && isChunk ? try Self.removeTwins(of: object, business: business, in: db) : []
        return [replaced?["file"]].compactMap(\.self) + twins
    }

    private static func write(_ object: StoredObject, business: BusinessID, in db: Database) throws {
        try db.run(
            """
            INSERT INTO objects (
                business_id, bucket, key, file, size, etag, content_type, disposition, metadata, created_at
            ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (business_id, bucket, key) DO UPDATE SET
                file = excluded.file, size = excluded.size, etag = excluded.etag,
                content_type = excluded.content_type, disposition = excluded.disposition,
                metadata = excluded.metadata, created_at = excluded.created_at
            """,
            [
                business.rawValue, object.bucket, object.key, object.file, object.size, object.eTag,
                object.contentType, object.disposition, try StoredJSON.text(object.metadata),
                object.createdAt.milliseconds,
            ]
        )
    }

    static func object(business: BusinessID, bucket: String, key: String, in db: Database) throws -> StoredObject? {
        try db.row(
            "SELECT * FROM objects WHERE business_id = ? AND bucket = ? AND key = ?",
            [business.rawValue, bucket, key]
        ).map(StoredObject.init(row:))
    }

    /// - Returns: whether the object is a session's.
    private func makeWork(
        for object: StoredObject, business: BusinessID, _ permit: (String?) throws(ScribeError) -> Void,
        in db: Database, _ changes: inout [Change]
    ) throws -> Bool {
        var isOfSession = false
        let (folder, name) = AudioLocation.split(key: object.key)
        let rows = try db.rows(
            """
            SELECT id, txn_id, user_status, processing_status, committed_files, fixture, created_at,
                json_extract(request, '$.session') IS NOT NULL AS is_session
            FROM transactions
            WHERE business_id = ? AND bucket = ? AND folder = ? AND archived_at IS NULL
            """,
            [business.rawValue, object.bucket, folder]
        )
        for row in rows {
            try permit(row["fixture"])
            let userStatus: Transaction.UserStatus = try row.word("user_status")
            let processingStatus: Transaction.ProcessingStatus = try row.word("processing_status")
            if row["is_session"] as Bool {
                guard userStatus.isOpen else {
                    throw [.inProgress, .cancelled].contains(processingStatus)
                        ? ScribeError.sessionEnded : .sessionCompleted
                }
                let age = object.createdAt.timeIntervalSince(Date(milliseconds: row["created_at"]))
                guard age < sessionLifetime else { throw ScribeError.sessionExpired }
                isOfSession = true
            }
            if userStatus.isOpen {
                changes.append(.audio(Transaction.Key(business: business, id: TransactionID(row["txn_id"]))))
                // A fixture is chosen with the transaction and there is nothing to hear, so no need to begin early.
                guard transcribesOnArrival, chunkOrdinal(ofFile: name) != nil, row["fixture"] as String? == nil
                else { continue }
                try Self.enqueueTranscription(
                    of: name, eTag: object.eTag, rowID: row["id"], at: object.createdAt, in: db, &changes)
            } else if processingStatus == .inProgress,
                case let files = try StoredJSON.value(row["committed_files"], as: [String].self),
                files.isEmpty || files.contains(name)
            {
                changes.append(.audio(Transaction.Key(business: business, id: TransactionID(row["txn_id"]))))
                try Self.wakeAssembly(ofRow: row["id"], at: object.createdAt, in: db, &changes)
                try Self.outdateAssembly(ofRow: row["id"], in: db)
            }
        }
        return isOfSession
    }

    /// Removes other objects of the same folder with the same chunk's number.
    /// - Returns: their files.
    private static func removeTwins(
        of object: StoredObject, business: BusinessID, in db: Database
    ) throws -> [String] {
        let (folder, name) = AudioLocation.split(key: object.key)
        guard let number = chunkOrdinal(ofFile: name) else { return [] }
        let location = AudioLocation(bucket: object.bucket, folder: folder)
        return try names(in: location, business: business, upTo: Limits.files, db)
            .filter { $0 != name && chunkOrdinal(ofFile: $0) == number }
            .compactMap { twin in
                try db.row(
                    "DELETE FROM objects WHERE business_id = ? AND bucket = ? AND key = ? RETURNING file",
                    [business.rawValue, object.bucket, location.key(ofFile: twin)])?["file"]
            }
    }
}

extension StoredObject {
    init(row: StoredRow) throws {
        self.init(
            bucket: row["bucket"], key: row["key"], file: row["file"], size: row["size"], eTag: row["etag"],
            contentType: row["content_type"], disposition: row["disposition"],
            metadata: try StoredJSON.value(row["metadata"]),
            createdAt: Date(milliseconds: row["created_at"])
        )
    }
}
