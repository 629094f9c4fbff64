package import Foundation
package import ScribeDomain

/// A recording that its client has ended.
package struct EndedRecording: Sendable {
    package let transaction: Transaction
    /// The names of the audio that had come.
    package let files: [String]
}

/// What has come of a recording's audio.
package struct ArrivedAudio: Sendable {
    /// The names of its files, in their order.
    package let files: [String]
    /// The stretches that make it up, in the order in which they were spoken; none but where it comes in stretches.
    package let segments: [AudioSegment]
}

extension Store {
    /// Ends a recording as its family decides, by what has come of its audio until now: all in one SQL transaction, so that
    /// no acknowledged upload is left out and none comes after it. Of two that end it at once one does.
    /// - Parameters:
    ///   - fixtures: the fixtures by which a commit is refused.
    ///   - decide: ends the transaction.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/refusedOnPurpose``, and what `decide` throws.
    package func end(
        _ key: Transaction.Key, at now: Date, refusing fixtures: Set<String> = [],
        _ decide: @escaping @Sendable (inout Transaction, ArrivedAudio) throws(ScribeError) -> Transaction.Effect
    ) async throws -> EndedRecording {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            let old = try Transaction(row: row)
            try old.request.requireFixture(notAmong: fixtures)
            let audio = try Self.arrivedAudio(of: old, in: db)
            var transaction = old
            let effect = try decide(&transaction, audio)
            // First, for the job that is handed over has it in it.
            if transaction.request != old.request { try self.saveRequest(of: transaction, rowID: row["id"], in: db) }
            try self.applyAndHandOver(
                effect, to: transaction, insteadOf: old, rowID: row["id"], at: now, in: db, &changes)
            return EndedRecording(transaction: transaction, files: audio.files)
        }
    }

    /// The names of a session's audio, in its order.
    package func chunkNames(of transaction: Transaction) async throws -> [String] {
        try await read { try Self.chunkNames(of: transaction, in: $0) }
    }

    // MARK: Within a SQL transaction

    /// Puts other results in the place of those that are still to be written.
    static func replaceDocuments(
        ofRow rowID: Int64, with documents: [ResultDocument], at now: Date, in db: any StoreSession
    ) throws {
        try db.run(
            """
            DELETE FROM documents WHERE transaction_id = ? AND is_authored = 0 AND kind <> 'transcript'
                AND status = 'in-progress'
            """,
            [rowID])
        for document in documents { try insert(document, rowID: rowID, at: now, in: db) }
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
        return try names(in: location, business: transaction.key.business, upTo: Limits.files, db)
    }
}
