package import Foundation
package import ObjectStorage
package import ScribeDomain

/// Object of the S3 store: the metadata of an upload, whose bytes are in a file.
package struct StoredObject: Hashable, Sendable {
    package let bucket: String
    package let key: String
    /// Name of the file in ``ObjectFiles``.
    package let file: String
    /// Size in bytes.
    package let size: Int
    /// ETag without its quotes: the MD5 in lower-case hex, or `<hex>-<number of parts>` for a multipart upload.
    package let eTag: String
    /// Header fields that the uploader wants in answers, by lower-case name: `content-type`, `content-disposition`,
    /// `x-amz-meta-…` and others.
    package let headers: [String: String]
    /// nil for audio that came by another API.
    package let checksum: ObjectChecksum?
    /// Sizes of the parts of a multipart upload in bytes; empty for an object that was sent whole.
    package let parts: [Int]
    package let createdAt: Date

    package init(
        bucket: String, key: String, file: String, size: Int, eTag: String, headers: [String: String] = [:],
        checksum: ObjectChecksum? = nil, parts: [Int] = [], createdAt: Date
    ) {
        self.bucket = bucket
        self.key = key
        self.file = file
        self.size = size
        self.eTag = eTag
        self.headers = headers
        self.checksum = checksum
        self.parts = parts
        self.createdAt = createdAt
    }

    package var contentType: String? { headers["content-type"] }
}

extension AudioStore {
    /// Stores an object, and replaces the object of the same business, bucket and key.
    ///
    /// In the same SQL transaction, a numbered chunk of an open transaction gets a transcription job. A file that a
    /// committed transaction waits for wakes the transaction's assembly.
    ///
    /// A protocol session takes no objects after its end or its lifetime. A chunk of a session replaces the files with
    /// the same chunk number, whatever their extension.
    /// - Returns: files of the replaced objects, to which no row refers any more.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``.
    /// - Parameters:
    ///   - isChunk: whether the object replaces files with its chunk number, as an upload to a chunk number of a
    ///     session does. A form upload does not, because its client chooses the file name freely.
    ///   - fixtures: fixtures whose uploads are refused.
    ///   - permitReplacing: gets the ETag of the existing object, nil without one, and throws if that object must stay.
    package func put(
        _ object: StoredObject, business: BusinessID, isChunk: Bool = false, refusing fixtures: Set<String> = [],
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void = { _ in }
    ) async throws -> [String] {
        try await database.write(.folder(business, bucket: object.bucket, key: object.key)) { db, changes in
            let place = try self.place(
                for: object, business: business, refusing: fixtures, replacing: permitReplacing, in: db)
            return try self.put(object, at: place, business: business, isChunk: isChunk, in: db, &changes)
        }
    }

    /// Object with a key; nil if there is none.
    package func object(business: BusinessID, bucket: String, key: String) async throws -> StoredObject? {
        try await read { try Self.object(business: business, bucket: bucket, key: key, in: $0) }
    }

    /// Deletes objects of one folder.
    /// - Parameter keys: not empty, and all in the folder of the first.
    /// - Returns: the files of those that there were.
    package func deleteObjects(business: BusinessID, bucket: String, keys: [String]) async throws -> [String] {
        try await database.write(.folder(business, bucket: bucket, key: keys[0])) { db in
            try db.rows(
                """
                DELETE FROM objects WHERE business_id = ? AND bucket = ? AND key \(db.isAmong(3))
                RETURNING file
                """,
                [business.rawValue, bucket, try StoredJSON.text(keys)]
            ).map { $0["file"] }
        }
    }

    /// Objects of a bucket in the byte order of their keys, at most `limit`. The first key is greater than `after` and
    /// not less than `prefix`.
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

    /// Buckets with objects of a business, each with the time of its oldest object.
    package func buckets(business: BusinessID) async throws -> [(name: String, createdAt: Date)] {
        try await read { db in
            try db.rows(
                "SELECT bucket, min(created_at) AS time FROM objects WHERE business_id = ? GROUP BY bucket ORDER BY bucket",
                [business.rawValue]
            ).map { ($0["bucket"], Date(milliseconds: $0["time"])) }
        }
    }

    /// Whether a bucket has an object of any business. Reads one row per business.
    package func hasBucket(_ bucket: String) async throws -> Bool {
        try await read { db in
            try !db.rows(
                """
                SELECT 1 AS found FROM storage WHERE EXISTS (
                    SELECT 1 FROM objects WHERE objects.business_id = storage.business_id AND bucket = ?)
                LIMIT 1
                """,
                [bucket]
            ).isEmpty
        }
    }

    /// Selects the files to which neither an object nor a part of an upload refers.
    package func unusedFiles(among files: [String]) async throws -> [String] {
        try await read { db in
            try db.rows(
                """
                SELECT value AS file FROM \(db.list(1)) AS candidates
                WHERE NOT EXISTS (SELECT 1 FROM objects WHERE objects.file = candidates.value)
                    AND NOT EXISTS (SELECT 1 FROM multipart_parts WHERE multipart_parts.file = candidates.value)
                """,
                [try StoredJSON.text(files)]
            ).map { $0["file"] }
        }
    }

    /// Place of a new object: the object that it replaces, and the transactions that have its folder.
    struct ObjectPlace {
        /// File of the object that is replaced.
        fileprivate let replacedFile: String?
        fileprivate let transactions: [StoredRow]
    }

    /// Checks whether an object can be stored. The check precedes all writes, so that a refusal needs no rollback.
    /// - Parameter freed: number of bytes that the same write frees, such as the parts of a completed upload.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/refusedOnPurpose``, ``ScribeError/storageQuotaExceeded``, and errors of `permitReplacing`.
    func place(
        for object: StoredObject, business: BusinessID, refusing fixtures: Set<String> = [], freeing freed: Int = 0,
        replacing permitReplacing: (String?) throws -> Void = { _ in }, in db: any StoreSession
    ) throws -> ObjectPlace {
        // One row at least: without a transaction, its columns are NULL.
        let rows = try db.rows(
            """
            SELECT o.file AS replaced_file, o.size AS replaced_size, o.etag AS replaced_etag, t.id, t.txn_id, t.kind,
                t.user_status, t.processing_status, t.committed_files, t.fixture, t.created_at, t.audio_at,
                \(db.text("t.request", "intake")) AS intake
            FROM (SELECT 1 AS one) AS one
                LEFT JOIN objects AS o ON o.business_id = ?1 AND o.bucket = ?2 AND o.key = ?3
                LEFT JOIN transactions AS t ON t.business_id = ?1 AND t.bucket = ?2 AND t.folder = ?4
                    AND t.archived_at IS NULL
            """,
            [business.rawValue, object.bucket, object.key, AudioLocation.split(key: object.key).folder])
        let replaced = rows.first
        try permitReplacing(replaced?["replaced_etag"])
        let transactions = rows.filter { ($0["id"] as Int64?) != nil }
        for row in transactions {
            if let fixture = row["fixture"] as String?, fixtures.contains(fixture) {
                throw ScribeError.refusedOnPurpose
            }
            guard Self.arrives(row) else { continue }
            try Transaction.requireOpenArrival(
                try row.word("user_status"), try row.word("processing_status"),
                begun: Date(milliseconds: row["created_at"]),
                lastAudio: (row["audio_at"] as Int64?).map(Date.init(milliseconds:)), at: object.createdAt,
                lifetime: policies[RecordingKind(row["kind"])].lifetime)
        }
        try requireRoom(
            for: object.size - (replaced?["replaced_size"] as Int? ?? 0) - freed, of: business, in: db)
        return ObjectPlace(replacedFile: replaced?["replaced_file"], transactions: transactions)
    }

    func put(
        _ object: StoredObject, at place: ObjectPlace, business: BusinessID, isChunk: Bool = false,
        in db: any StoreSession,
        _ changes: inout [Change]
    ) throws -> [String] {
        try Self.write(object, business: business, in: db)
        for row in place.transactions {
            try makeWork(for: object, of: row, business: business, in: db, &changes)
            if Self.arrives(row) { try store.transactions.noteAudio(ofRow: row, at: object.createdAt, in: db) }
        }
        let isOfSession = place.transactions.contains(where: Self.arrives)
        let others = isOfSession && isChunk ? try Self.removeSameChunks(of: object, business: business, in: db) : []
        return [place.replacedFile].compactMap(\.self) + others
    }

    private static func arrives(_ row: StoredRow) -> Bool {
        (row["intake"] as String?) == AudioIntake.arrived.rawValue
    }

    private static func write(_ object: StoredObject, business: BusinessID, in db: any StoreSession) throws {
        try db.insert(into: "objects", onConflict: .update(key: ["business_id", "bucket", "key"])).values([
            "business_id": business.rawValue, "bucket": object.bucket, "key": object.key, "file": object.file,
            "size": object.size, "etag": object.eTag, "headers": try StoredJSON.text(object.headers),
            "checksum_algorithm": object.checksum?.algorithm.rawValue, "checksum": object.checksum?.text,
            "parts": object.parts.isEmpty ? nil : try StoredJSON.text(object.parts),
            "created_at": object.createdAt.milliseconds,
        ])
    }

    static func object(business: BusinessID, bucket: String, key: String, in db: any StoreSession) throws
        -> StoredObject?
    {
        try db.row(
            "SELECT * FROM objects WHERE business_id = ? AND bucket = ? AND key = ?",
            [business.rawValue, bucket, key]
        ).map(StoredObject.init(row:))
    }

    private func makeWork(
        for object: StoredObject, of row: StoredRow, business: BusinessID, in db: any StoreSession,
        _ changes: inout [Change]
    ) throws {
        let name = AudioLocation.split(key: object.key).name
        let audio = Change.audio(Transaction.Key(business: business, id: TransactionID(row["txn_id"])))
        let userStatus: Transaction.UserStatus = try row.word("user_status")
        let processingStatus: Transaction.ProcessingStatus = try row.word("processing_status")
        if userStatus.isOpen {
            changes.append(audio)
            // A fixture needs no transcription, and therefore no early job.
            guard transcribesOnArrival, chunkOrdinal(ofFile: name) != nil, row["fixture"] as String? == nil
            else { return }
            try WorkStore.enqueueTranscription(
                of: name, eTag: object.eTag, rowID: row["id"], at: object.createdAt, in: db, &changes)
        } else if processingStatus == .inProgress,
            case let files = try StoredJSON.value(row["committed_files"], as: [String].self),
            files.isEmpty || files.contains(name)
        {
            changes.append(audio)
            try WorkStore.wakeAssembly(ofRow: row["id"], at: object.createdAt, in: db, &changes)
            try WorkStore.outdateAssembly(ofRow: row["id"], in: db)
        }
    }

    /// Deletes the other objects of a folder that have the same chunk number.
    /// - Returns: the files of the deleted objects.
    private static func removeSameChunks(
        of object: StoredObject, business: BusinessID, in db: any StoreSession
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
            headers: try StoredJSON.value(row["headers"]),
            checksum: try (row["checksum"] as String?).map { text in
                ObjectChecksum(try row.word("checksum_algorithm"), text: text)
            },
            parts: try (row["parts"] as String?).map { try StoredJSON.value($0) } ?? [],
            createdAt: Date(milliseconds: row["created_at"])
        )
    }
}
