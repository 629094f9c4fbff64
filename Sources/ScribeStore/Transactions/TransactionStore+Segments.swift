package import Foundation
package import ScribeDomain

/// Audio segments of recordings with ``AudioIntake/segments``.
extension TransactionStore {
    /// Begins an audio segment of a recording.
    /// - Parameter field: the request's field that holds the segment's start, for errors.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/invalidRequest(field:problem:)`` for too many segments or files.
    package func beginSegment(
        _ recording: String, startedAt: Date, of key: Transaction.Key, called field: String, at now: Date
    ) async throws {
        try await database.write(.transaction(key)) { db in
            let row = try Self.requireTransactionRow(key, in: db)
            let transaction = try Transaction(row: row, withChunks: false)
            try transaction.requireOpenSegments(
                at: now, lifetime: self.policies[transaction.request.kind].lifetime)
            try Limits.require(
                try DocumentStore.count("ambient_segments", of: row["id"], in: db) + 1, atMost: Limits.segments, field)
            if let location = transaction.request.audioLocation {
                let files = try db.row(
                    "SELECT count(*) AS count FROM objects WHERE business_id = ?1 AND bucket = ?2 AND key > ?3 AND key < ?3 || '~'",
                    [key.business.rawValue, location.bucket, location.key(ofFile: "")])
                try Limits.require(files?["count"] ?? 0, atMost: Limits.files - 1, field)
            }
            try db.insert(into: "ambient_segments").values([
                "transaction_id": row["id"] as Int64, "recording_id": recording,
                "started_at": startedAt.milliseconds,
            ])
        }
    }

    /// Deletes an audio segment and its objects.
    /// - Returns: files of the objects, to which no row refers any more.
    package func removeSegment(_ recording: String, of key: Transaction.Key) async throws -> [String] {
        try await database.write(.transaction(key)) { db in
            try db.run("DELETE FROM ambient_segments WHERE recording_id = ?", [recording])
            guard let location = try Self.transaction(key, in: db)?.request.audioLocation else { return [] }
            return try db.rows(
                "DELETE FROM objects WHERE business_id = ?1 AND bucket = ?2 AND key > ?3 AND key < ?3 || '~' RETURNING file",
                [key.business.rawValue, location.bucket, location.key(ofFile: "\(recording)-")]
            ).map { $0["file"] }
        }
    }

    /// Audio segments of a recording, in the order of arrival.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func segments(of key: Transaction.Key) async throws -> [AudioSegment] {
        try await read { db in
            guard let transaction = try Self.transaction(key, in: db) else { throw ScribeError.transactionNotFound }
            return try Self.segments(of: transaction, in: db)
        }
    }

    /// Transcription results of a transaction's committed files, in spoken order. Files without a result are left out.
    package func outcomes(of transaction: Transaction) async throws -> [ChunkOutcome] {
        try await read { db in
            guard let row = try Self.transactionRow(transaction.key, in: db) else { return [] }
            let known = try DocumentStore.chunkTranscripts(ofRow: row["id"], in: db)
            return transaction.orderedFiles.compactMap { name in
                known[name].map { ChunkOutcome(file: name, times: transaction.stopped.times[name], result: $0.result) }
            }
        }
    }

    /// Newest ambient sessions of a user in one encounter, oldest first, at most ``Limits/sessionsOfEncounter``.
    package func sessions(
        ofEncounter encounter: String, of user: UserID, in business: BusinessID
    ) async throws -> [Transaction] {
        try await read { db in
            try db.rows(
                """
                SELECT * FROM transactions WHERE business_id = ? AND encounter_id = ? AND user_id = ?
                    AND archived_at IS NULL ORDER BY id DESC LIMIT ?
                """,
                [business.rawValue, encounter, user.rawValue, Limits.sessionsOfEncounter]

            ).reversed().map { try Transaction(row: $0, withChunks: false) }
        }
    }

    // MARK: Within a SQL transaction

    static func segments(of transaction: Transaction, in db: any StoreSession) throws -> [AudioSegment] {
        guard let location = transaction.request.audioLocation else { return [] }
        let (business, prefix) = (transaction.key.business.rawValue, location.key(ofFile: ""))
        let objects = try db.rows(
            "SELECT key, size FROM objects WHERE business_id = ? AND bucket = ? AND key > ? ORDER BY key LIMIT ?",
            [business, location.bucket, prefix, Limits.files]
        ).lazy.map { (name: location.name(ofKey: $0["key"]), size: $0["size"] as Int) }.prefix { $0.name != nil }
        var files: [Substring: [AudioSegment.File]] = [:]
        for object in objects {
            guard let name = object.name, let recording = name.split(separator: "-").first else { continue }
            files[recording, default: []].append(.init(name: name, seconds: AudioSegment.seconds(of: object.size)))
        }
        return try db.rows(
            """
            SELECT ambient_segments.* FROM ambient_segments JOIN transactions ON transactions.id = transaction_id
            WHERE business_id = ? AND txn_id = ? ORDER BY ambient_segments.id
            """,
            [business, transaction.id.rawValue]
        ).map { row in
            let recording: String = row["recording_id"]
            return AudioSegment(
                recording: recording, startedAt: Date(milliseconds: row["started_at"]),
                files: files[recording[...]] ?? [])
        }
    }
}
