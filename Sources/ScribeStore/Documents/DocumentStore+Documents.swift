package import Foundation
package import ScribeDomain

/// Person's edit of a result (eka.md 2.5).
package struct ResultEdit: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        case document(DocumentID)
        /// Result of a template; `transcript` names the transcript.
        case template(TemplateID)
    }

    package let target: Target
    package let value: String

    package init(target: Target, value: String) {
        self.target = target
        self.value = value
    }
}

/// Source of a conversion: the recording, or a transcript from the client.
package enum ConversionSource: Hashable, Sendable {
    /// Recorded and committed audio.
    case recording
    /// Transcript that replaces the audio.
    case transcript(String)
}

extension DocumentStore {
    /// Replaces texts of results by a person's edits. All edits are stored, or none.
    ///
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/resultNotFound``,
    ///   ``ScribeError/storageQuotaExceeded``.
    package func edit(_ key: Transaction.Key, _ edits: [ResultEdit], at now: Date) async throws {
        try await database.write(.transaction(key)) { db, changes in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            try store.audio.withinQuota(of: key.business, in: db) { try Self.edit(row["id"], edits, at: now, in: db) }
            changes.append(.transaction(key))
        }
    }

    private static func edit(_ rowID: Int64, _ edits: [ResultEdit], at now: Date, in db: any StoreSession) throws {
        let results = try documents(ofRow: rowID, in: db)
        for edit in edits {
            var documents = results
            if case .document(let id) = edit.target, !results.contains(where: { $0.id == id }) {
                documents = try Self.documents(ofRow: rowID, andAuthored: id, in: db)
            }
            let found = documents.last { document in
                switch edit.target {
                case .document(let id): document.id == id
                case .template(let id): document.answers(to: id)
                }
            }
            guard let found else { throw ScribeError.resultNotFound }
            try setValue(edit.value, of: found.id, at: now, in: db)
        }
    }

    /// Requests a result in a further template, or requests an existing result again.
    ///
    /// - Parameters:
    ///   - document: the requested result. An existing result of the same template is written again and keeps its id.
    ///   - addsOne: whether the result is a new document even if the template has one already.
    /// - Returns: the id of the document that will be written.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/invalidState(_:)``, ``ScribeError/storageQuotaExceeded``.
    package func convert(
        _ key: Transaction.Key, to document: ResultDocument, from source: ConversionSource,
        addsOne: Bool = false, at now: Date
    ) async throws -> DocumentID {
        try await database.write(.transaction(key)) { db, changes in
            try self.convert(
                key, to: document, from: source, replacesEdited: true, addsOne: addsOne, at: now, in: db, &changes)
        }
    }

    // MARK: Within a SQL transaction

    /// Stores a person's text in a document. After a new transcript, a running assembly runs again at its end.
    static func setValue(_ value: String, of id: DocumentID, at now: Date, in db: any StoreSession) throws {
        let edited = try db.row(
            """
            UPDATE documents SET value = ?, status = 'success', errors = '[]', is_edited = 1, updated_at = ?
            WHERE document_id = ? RETURNING transaction_id, kind, is_authored
            """,
            [value, now.milliseconds, id.rawValue])
        if let edited, edited["kind"] == ResultDocument.Kind.transcript.rawValue, edited["is_authored"] == false {
            try WorkStore.outdateAssembly(ofRow: edited["transaction_id"], in: db)
        }
    }

    /// Requests a result within a SQL transaction, as ``convert(_:to:from:addsOne:at:)`` does.
    /// - Parameter replacesEdited: whether an existing result is also written again after a person has edited it.
    func convert(
        _ key: Transaction.Key, to document: ResultDocument, from source: ConversionSource, replacesEdited: Bool,
        addsOne: Bool, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> DocumentID {
        let row = try TransactionStore.requireTransactionRow(key, in: db)
        let rowID: Int64 = row["id"]
        let old = try Transaction(row: row)
        try old.requireTime(at: now, lifetime: policies[old.request.kind].lifetime)
        var transaction = old
        changes.append(.transaction(key))
        switch source {
        case .recording:
            try transaction.requireConvertible()
        case .transcript(let text):
            let effect = try transaction.commitTranscript(at: now)
            try store.transactions.apply(
                effect, to: transaction, insteadOf: old, rowID: rowID, at: now, in: db, &changes)
            try store.audio.withinQuota(of: key.business, in: db) {
                try db.run(
                    """
                    UPDATE documents SET value = ?, status = 'success', is_edited = 1, updated_at = ?
                    WHERE transaction_id = ? AND kind = 'transcript' AND is_authored = 0
                    """,
                    [text, now.milliseconds, rowID]
                )
            }
        }
        let existing =
            addsOne
            ? nil
            : try Self.documents(ofRow: rowID, in: db).last { $0.answers(to: document.templateID) }
        // An existing transcript is not made again, whether recognised, supplied or corrected.
        if let existing, existing.kind == .transcript || existing.isEdited && !replacesEdited { return existing.id }
        if let existing {
            try db.run(
                """
                UPDATE documents SET status = 'in-progress', value = NULL, errors = '[]', warnings = '[]',
                    is_edited = 0, language = ?, updated_at = ?
                WHERE document_id = ?
                """,
                [document.language, now.milliseconds, existing.id.rawValue]
            )
        } else {
            try Limits.require(
                try Self.count("documents", of: rowID, in: db) + 1,
                atMost: Limits.results + Limits.documents, "template_id")
            try Self.insert([document], rowID: rowID, at: now, in: db)
        }
        try store.work.startAssembly(ofRow: rowID, business: transaction.key.business, at: now, in: db, &changes)
        return existing?.id ?? document.id
    }

    /// Number of rows of a table that belong to a transaction.
    static func count(_ table: String, of rowID: Int64, in db: any StoreSession) throws -> Int {
        try db.row("SELECT count(*) AS count FROM \(table) WHERE transaction_id = ?", [rowID])?["count"] ?? 0
    }

    /// Inserts documents of a transaction.
    /// - Parameter areAuthored: whether a client wrote the documents; false for results of the server.
    static func insert(
        _ documents: [ResultDocument], areAuthored: Bool = false, rowID: Int64, at now: Date, in db: any StoreSession
    ) throws {
        try db.insert(into: "documents").rows(
            documents.map { document in
                [
                    "document_id": document.id.rawValue, "transaction_id": rowID, "kind": document.kind.rawValue,
                    "template_id": document.templateID.rawValue, "name": document.name,
                    "format": document.format.rawValue, "language": document.language,
                    "status": document.status.rawValue, "value": document.value, "is_authored": areAuthored,
                    "updated_at": now.milliseconds, "created_at": now.milliseconds,
                ]
            })
    }
}
