package import Foundation
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
    ///   - isChunk: whether it takes the place of others with its number, as what a session's client puts at a number
    ///     does. What a form brings is called as its client likes.
    ///   - fixtures: the fixtures by which an upload is refused.
    ///   - permitReplacing: gets the ETag of the object that is there, if any, and throws when it is to stay.
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

    /// The object of that key, or nil.
    package func object(business: BusinessID, bucket: String, key: String) async throws -> StoredObject? {
        try await read { try Self.object(business: business, bucket: bucket, key: key, in: $0) }
    }

    /// Removes an object.
    /// - Returns: the file that held it, nil when there was none.
    package func deleteObject(business: BusinessID, bucket: String, key: String) async throws -> String? {
        try await database.write(.folder(business, bucket: bucket, key: key)) { db in
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

    /// Whether any business has put anything into a bucket. Reads one row for each business.
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

    /// Which of these files hold neither an object nor a part of one.
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

    /// Where an object goes: the object that it replaces, and the transactions whose audio it is.
    struct ObjectPlace {
        fileprivate let replaced: StoredRow?
        fileprivate let transactions: [StoredRow]
    }

    /// Decides whether an object is taken, before anything is written: a refusal leaves nothing to roll back.
    /// - Parameter freed: bytes that the same write gives back, as a completed upload does its parts.
    /// - Throws: ``ScribeError/sessionEnded``, ``ScribeError/sessionCompleted``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/refusedOnPurpose``, ``ScribeError/storageQuotaExceeded``, what `permitReplacing` throws.
    func place(
        for object: StoredObject, business: BusinessID, refusing fixtures: Set<String> = [], freeing freed: Int = 0,
        replacing permitReplacing: (String?) throws -> Void = { _ in }, in db: any StoreSession
    ) throws -> ObjectPlace {
        let replaced = try db.row(
            "SELECT file, size, etag FROM objects WHERE business_id = ? AND bucket = ? AND key = ?",
            [business.rawValue, object.bucket, object.key]
        )
        try permitReplacing(replaced?["etag"])
        let transactions = try db.rows(
            """
            SELECT id, txn_id, kind, user_status, processing_status, committed_files, fixture, created_at,
                \(db.text("request", "intake")) AS intake
            FROM transactions
            WHERE business_id = ? AND bucket = ? AND folder = ? AND archived_at IS NULL
            """,
            [business.rawValue, object.bucket, AudioLocation.split(key: object.key).folder]
        )
        for row in transactions {
            if let fixture = row["fixture"] as String?, fixtures.contains(fixture) {
                throw ScribeError.refusedOnPurpose
            }
            guard Self.arrives(row) else { continue }
            try Transaction.requireOpenArrival(
                try row.word("user_status"), try row.word("processing_status"),
                begun: Date(milliseconds: row["created_at"]), at: object.createdAt,
                lifetime: policies[RecordingKind(row["kind"])].lifetime)
        }
        try requireRoom(for: object.size - (replaced?["size"] ?? 0) - freed, of: business, in: db)
        return ObjectPlace(replaced: replaced, transactions: transactions)
    }

    func put(
        _ object: StoredObject, at place: ObjectPlace, business: BusinessID, isChunk: Bool = false,
        in db: any StoreSession,
        _ changes: inout [Change]
    ) throws -> [String] {
        try Self.write(object, business: business, in: db)
        for row in place.transactions { try makeWork(for: object, of: row, business: business, in: db, &changes) }
        let isOfSession = place.transactions.contains(where: Self.arrives)
        let twins = isOfSession && isChunk ? try Self.removeTwins(of: object, business: business, in: db) : []
        return [place.replaced?["file"]].compactMap(\.self) + twins
    }

    private static func arrives(_ row: StoredRow) -> Bool {
        (row["intake"] as String?) == AudioIntake.arrived.rawValue
    }

    private static func write(_ object: StoredObject, business: BusinessID, in db: any StoreSession) throws {
        try db.insert(into: "objects", onConflict: .update(key: ["business_id", "bucket", "key"])).values([
            "business_id": business.rawValue, "bucket": object.bucket, "key": object.key, "file": object.file,
            "size": object.size, "etag": object.eTag, "content_type": object.contentType,
            "disposition": object.disposition, "metadata": try StoredJSON.text(object.metadata),
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
            // A fixture is chosen with the transaction and there is nothing to hear, so no need to begin early.
            guard transcribesOnArrival, chunkOrdinal(ofFile: name) != nil, row["fixture"] as String? == nil
            else { return }
            try Self.enqueueTranscription(
                of: name, eTag: object.eTag, rowID: row["id"], at: object.createdAt, in: db, &changes)
        } else if processingStatus == .inProgress,
            case let files = try StoredJSON.value(row["committed_files"], as: [String].self),
            files.isEmpty || files.contains(name)
        {
            changes.append(audio)
            try Self.wakeAssembly(ofRow: row["id"], at: object.createdAt, in: db, &changes)
            try Self.outdateAssembly(ofRow: row["id"], in: db)
        }
    }

    /// Removes other objects of the same folder with the same chunk's number.
    /// - Returns: their files.
    private static func removeTwins(
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
            contentType: row["content_type"], disposition: row["disposition"],
            metadata: try StoredJSON.value(row["metadata"]),
            createdAt: Date(milliseconds: row["created_at"])
        )
    }
}
