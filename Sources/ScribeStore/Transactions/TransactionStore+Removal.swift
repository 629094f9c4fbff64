package import ScribeDomain

/// Removal of whole transactions, which operators ask for.
extension TransactionStore {
    /// Keys of the transactions with an id, of all businesses.
    package func transactionKeys(of id: TransactionID) async throws -> [Transaction.Key] {
        try await read { db in
            try db.rows("SELECT business_id FROM transactions WHERE txn_id = ? ORDER BY id", [id.rawValue])
                .map { Transaction.Key(business: BusinessID($0["business_id"]), id: id) }
        }
    }

    /// Removes a transaction with its results, jobs and audio. Its id is free again. Audio in the folder of another
    /// transaction stays.
    /// - Returns: files of the audio, which nothing refers to any more.
    /// - Throws: ``ScribeError/transactionNotFound``.
    package func removeTransaction(_ key: Transaction.Key) async throws -> [String] {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            let id: Int64 = row["id"]
            let location = try Transaction(row: row).request.audioLocation
            // Rows that count a business's storage find it by the transaction.
            for table in ["documents", "feedback", "jobs", "chunk_transcripts", "ambient_segments"] {
                try db.run("DELETE FROM \(table) WHERE transaction_id = ?", [id])
            }
            try db.run("DELETE FROM transactions WHERE id = ?", [id])
            changes.append(.transaction(key))
            guard let location else { return [] }
            return try Self.removeAudio(in: location, of: key.business, in: db)
        }
    }

    /// Removes the objects of a folder, except those in the folder of a transaction, which may be the same one or below
    /// it. The root of a bucket holds only the objects whose key has no slash.
    /// - Returns: the files of the objects.
    private static func removeAudio(
        in location: AudioLocation, of business: BusinessID, in db: any StoreSession
    ) throws -> [String] {
        let inside = location.folder.isEmpty ? "key NOT LIKE '%/%'" : "key >= ?3 || '/' AND key < ?3 || '0'"
        let found = try db.rows(
            """
            SELECT id, key FROM objects WHERE business_id = ?1 AND bucket = ?2
                AND CAST(?3 AS TEXT) IS NOT NULL AND \(inside)
            """,
            [business.rawValue, location.bucket, location.folder])
        let others = try db.rows(
            """
            SELECT DISTINCT folder FROM transactions WHERE business_id = ?1 AND bucket = ?2
                AND (folder = ?3 OR folder >= ?3 || '/' AND folder < ?3 || '0')
            """,
            [business.rawValue, location.bucket, location.folder]
        ).map { AudioLocation(bucket: location.bucket, folder: $0["folder"]) }
        let unshared = found.filter { row in !others.contains { $0.name(ofKey: row["key"]) != nil } }
        return try db.rows(
            "DELETE FROM objects WHERE id \(db.isAmongIntegers(1)) RETURNING file",
            [try StoredJSON.text(unshared.map { $0["id"] as Int64 })]
        ).map { $0["file"] }
    }
}
