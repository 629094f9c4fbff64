import Foundation
package import ScribeDomain

extension Store {
    /// Stores a chunk of an open transaction together with what was heard in it, so that nobody transcribes it again.
    /// - Parameter speech: nil where nobody has listened.
    /// - Returns: the files of what was replaced; nobody refers to them any more.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/invalidState(_:)`` once recording has ended,
    ///   ``ScribeError/storageQuotaExceeded``, and what `permitReplacing` throws.
    package func put(
        _ object: StoredObject, heard speech: RecognisedSpeech?, in key: Transaction.Key,
        replacing permitReplacing: @escaping @Sendable (String?) throws -> Void
    ) async throws -> [String] {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            try Transaction.requireOpen(try row.word("user_status"))
            let place = try self.place(for: object, business: key.business, replacing: permitReplacing, in: db)
            // Before the object, which would get a job otherwise.
            if let speech {
                try Self.saveSpeech(
                    of: AudioLocation.split(key: object.key).name, eTag: object.eTag, .success(speech),
                    rowID: row["id"], at: object.createdAt, in: db)
            }
            changes.append(.transaction(key))
            return try self.put(object, at: place, business: key.business, in: db, &changes)
        }
    }

    /// The names of the files in a transaction's folder, as many as a transaction may have; nil when it does not say where they are.
    package func fileNames(of transaction: Transaction) async throws -> [String]? {
        guard let location = transaction.request.audioLocation else { return nil }
        return try await read {
            try Self.names(in: location, business: transaction.key.business, upTo: Limits.files, $0)
        }
    }
}
