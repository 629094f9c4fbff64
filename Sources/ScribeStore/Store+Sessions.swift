package import Foundation
import GRDB
package import ScribeDomain

/// What a session's client did when it ended it.
package struct EndedSession: Sendable {
    package let transaction: Transaction
    /// The names of the audio that had come.
    package let files: [String]
}

extension Store {
    /// Ends a session: its audio is what has come until now, in one SQL transaction, so that no acknowledged upload is
    /// left out and none comes after it. Of two that end it at once one does.
    ///
    /// A transaction that was started otherwise is ended just the same.
    /// - Parameter fixtures: the fixtures by which a commit is refused.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/sessionEnded``, ``ScribeError/sessionExpired``,
    ///   ``ScribeError/refusedOnPurpose``.
    package func endSession(
        _ key: Transaction.Key, at now: Date, refusing fixtures: Set<String> = []
    ) async throws -> EndedSession {
        try await writes.write { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            let old = try Transaction(row: row)
            try old.request.requireFixture(notAmong: fixtures)
            let files = try Self.chunkNames(of: old, in: db)
            var transaction = old
            let effect = try transaction.end(files, at: now, lifetime: self.sessionLifetime)
            try self.applyAndHandOver(
                effect, to: transaction, insteadOf: old, rowID: row["id"], at: now, in: db, &changes)
            return EndedSession(transaction: transaction, files: files)
        }
    }

    /// The names of a session's audio, in its order.
    package func chunkNames(of transaction: Transaction) async throws -> [String] {
        try await read { try Self.chunkNames(of: transaction, in: $0) }
    }

    // MARK: Within a SQL transaction

    /// Puts other results in the place of those that are still to be written.
    static func replaceDocuments(
        ofRow rowID: Int64, with documents: [ResultDocument], at now: Date, in db: Database
    ) throws {
        try db.run(
            """
            DELETE FROM documents WHERE transaction_id = ? AND is_authored = 0 AND kind <> 'transcript'
                AND status = 'in-progress'
            """,
            [rowID])
        for document in documents { try insert(document, rowID: rowID, at: now, in: db) }
    }

    static func chunkNames(of transaction: Transaction, in db: Database) throws -> [String] {
        if transaction.request.ambient != nil { return try segments(of: transaction, in: db).recorded.chunks.files }
        guard let location = transaction.request.audioLocation else { return [] }
        let names = try names(in: location, business: transaction.key.business, upTo: Limits.files, db)
        if transaction.request.session != nil { return SessionFiles.audio(among: names) }
        let numbered = names.compactMap { name in chunkOrdinal(ofFile: name).map { ($0, name) } }
        return numbered.sorted { $0 < $1 }.map(\.1)
    }
}
