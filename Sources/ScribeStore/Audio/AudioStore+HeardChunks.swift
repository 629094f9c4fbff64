import Foundation
package import ScribeDomain

extension AudioStore {
    /// Stores a chunk of an open transaction together with its transcript, so that no job transcribes the chunk again.
    /// - Parameter speech: the transcript; nil if a job must transcribe the chunk.
    /// - Returns: files of the replaced objects, to which no row refers any more.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/invalidState(_:)`` once recording has ended,
    ///   ``ScribeError/storageQuotaExceeded``, and errors of `permitReplacing`.
    package func put(
        _ object: StoredObject, heard speech: RecognisedSpeech?, in key: Transaction.Key,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws -> [String] {
        try await database.write(.transaction(key)) { db, changes in
            try self.put(object, heard: speech, in: key, replacing: permitReplacing, in: db, &changes)
        }
    }

    func put(
        _ object: StoredObject, heard speech: RecognisedSpeech?, in key: Transaction.Key,
        replacing permitReplacing: (String?) throws -> Void = { _ in }, in db: any StoreSession,
        _ changes: inout [Change]
    ) throws -> [String] {
        let row = try TransactionStore.requireTransactionRow(key, in: db)
        try Transaction.requireOpen(try row.word("user_status"))
        let place = try place(for: object, business: key.business, replacing: permitReplacing, in: db)
        // Stored before the object, which would get a transcription job otherwise.
        if let speech {
            try WorkStore.save(
                [(AudioLocation.split(key: object.key).name, object.eTag, .success(speech))], rowID: row["id"],
                at: object.createdAt, in: db)
        }
        changes.append(.transaction(key))
        return try put(object, at: place, business: key.business, in: db, &changes)
    }

    /// Names of the files in a transaction's folder, at most ``Limits/files``; nil if the transaction names no folder.
    package func fileNames(of transaction: Transaction) async throws -> [String]? {
        guard let location = transaction.request.audioLocation else { return nil }
        return try await read {
            try Self.names(in: location, business: transaction.key.business, upTo: Limits.files, $0)
        }
    }
}
