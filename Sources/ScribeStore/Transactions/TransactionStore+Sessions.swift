package import Foundation
package import ScribeDomain

/// Audio of a recording that has arrived.
package struct ArrivedAudio: Sendable {
    /// Names of the audio files, in order.
    package let files: [String]
    /// Audio segments, in the order in which they were spoken; empty without ``AudioIntake/segments``.
    package let segments: [AudioSegment]
}

extension TransactionStore {
    /// Ends a recording as its family decides, with the audio that has arrived.
    ///
    /// One SQL transaction does all of this, so that no acknowledged upload is left out and no upload follows. Of two
    /// concurrent calls one ends the recording.
    /// - Parameters:
    ///   - fixtures: fixtures whose commits are refused.
    ///   - decide: ends the transaction, from the arrived audio.
    /// - Returns: Names of the audio files that had arrived.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/refusedOnPurpose``, and errors of `decide`.
    package func end(
        _ key: Transaction.Key, at now: Date, refusing fixtures: Set<String> = [],
        _ decide: @escaping @Sendable (inout Transaction, ArrivedAudio) throws(ScribeError) -> Transaction.Effect
    ) async throws -> [String] {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            let old = try Transaction(row: row)
            try old.request.requireFixture(notAmong: fixtures)
            let audio = try Self.arrivedAudio(of: old, in: db)
            var transaction = old
            let effect = try decide(&transaction, audio)
            // The request is stored first, because the job that is handed over contains it.
            if transaction.request != old.request { try self.saveRequest(of: transaction, rowID: row["id"], in: db) }
            try self.applyAndHandOver(
                effect, to: transaction, insteadOf: old, rowID: row["id"], at: now, in: db, &changes)
            return audio.files
        }
    }

    /// Names of a recording's arrived audio files, in order.
    package func chunkNames(of transaction: Transaction) async throws -> [String] {
        try await read { try Self.chunkNames(of: transaction, in: $0) }
    }

    // MARK: Within a SQL transaction

    /// Replaces the results that are still to be written, except the transcript.
    static func replaceDocuments(
        ofRow rowID: Int64, with documents: [ResultDocument], at now: Date, in db: any StoreSession
    ) throws {
        try db.run(
            """
            DELETE FROM documents WHERE transaction_id = ? AND is_authored = 0 AND kind <> 'transcript'
                AND status = 'in-progress'
            """,
            [rowID])
        try DocumentStore.insert(documents, rowID: rowID, at: now, in: db)
    }

    static func chunkNames(of transaction: Transaction, in db: any StoreSession) throws -> [String] {
        try arrivedAudio(of: transaction, in: db).files
    }

    static func arrivedAudio(of transaction: Transaction, in db: any StoreSession) throws -> ArrivedAudio {
        switch transaction.request.intake {
        case .segments:
            let recorded = try segments(of: transaction, in: db).recorded
            return ArrivedAudio(files: recorded.chunks.files, segments: recorded)
        case .arrived:
            return ArrivedAudio(files: SessionFiles.audio(among: try names(of: transaction, in: db)), segments: [])
        case .listed:
            let numbered = try names(of: transaction, in: db)
                .compactMap { name in chunkOrdinal(ofFile: name).map { ($0, name) } }
            return ArrivedAudio(files: numbered.sorted { $0 < $1 }.map(\.1), segments: [])
        }
    }

    private static func names(of transaction: Transaction, in db: any StoreSession) throws -> [String] {
        guard let location = transaction.request.audioLocation else { return [] }
        return try AudioStore.names(in: location, business: transaction.key.business, upTo: Limits.files, db)
    }
}
