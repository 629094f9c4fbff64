package import Foundation
package import ScribeDomain

/// A change that a person makes to a result (eka.md 2.5).
package struct ResultEdit: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        case document(DocumentID)
        /// The result of that template; `transcript` is the transcript itself.
        case template(TemplateID)
    }

    package let target: Target
    package let value: String

    package init(target: Target, value: String) {
        self.target = target
        self.value = value
    }
}

/// What a conversion starts from.
package enum ConversionSource: Hashable, Sendable {
    /// What was recorded and committed.
    case recording
    /// A text in its place.
    case transcript(String)
}

extension Store {
    /// Puts a person's words in the place of the server's. All edits are kept, or none.
    ///
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/resultNotFound``,
    ///   ``ScribeError/storageQuotaExceeded``.
    package func edit(_ key: Transaction.Key, _ edits: [ResultEdit], at now: Date) async throws {
        try await database.write(.transaction(key)) { db, changes in
            let row = try Self.requireTransactionRow(key, in: db)
            try self.withinQuota(of: key.business, in: db) { try Self.edit(row["id"], edits, at: now, in: db) }
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

    /// Asks for a result in a further template, or for one anew.
    ///
    /// - Parameters:
    ///   - document: as it is to be; one of the same template takes its place and keeps its id.
    ///   - replacesEdited: whether it does so where a person has changed that one.
    ///   - addsOne: whether it is a further one instead.
    /// - Returns: the id of the document that will be written.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/transactionCancelled``,
    ///   ``ScribeError/invalidState(_:)``, ``ScribeError/storageQuotaExceeded``.
    package func convert(
        _ key: Transaction.Key, to document: ResultDocument, from source: ConversionSource,
        replacesEdited: Bool = true, addsOne: Bool = false, at now: Date
    ) async throws -> DocumentID {
        try await database.write(.transaction(key)) { db, changes in
            try self.convert(
                key, to: document, from: source, replacesEdited: replacesEdited, addsOne: addsOne, at: now, in: db,
                &changes)
        }
    }

    // MARK: Within a SQL transaction

    /// Puts a person's text into a document. A new transcript outdates a running assembly.
    static func setValue(_ value: String, of id: DocumentID, at now: Date, in db: any StoreSession) throws {
        let edited = try db.row(
            """
            UPDATE documents SET value = ?, status = 'success', errors = '[]', is_edited = 1, updated_at = ?
            WHERE document_id = ? RETURNING transaction_id, kind
            """,
            [value, now.milliseconds, id.rawValue])
        if let edited, edited["kind"] == ResultDocument.Kind.transcript.rawValue {
            try outdateAssembly(ofRow: edited["transaction_id"], in: db)
        }
    }

    /// As ``convert(_:to:from:replacesEdited:addsOne:at:)``.
    func convert(
        _ key: Transaction.Key, to document: ResultDocument, from source: ConversionSource, replacesEdited: Bool,
        addsOne: Bool, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> DocumentID {
        let row = try Self.requireTransactionRow(key, in: db)
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
            try apply(effect, to: transaction, insteadOf: old, rowID: rowID, at: now, in: db, &changes)
            try withinQuota(of: key.business, in: db) {
                try db.run(
                    """
                    UPDATE documents SET value = ?, status = 'success', is_edited = 1, updated_at = ?
                    WHERE transaction_id = ? AND kind = 'transcript'
                    """,
                    [text, now.milliseconds, rowID]
                )
            }
        }
        let existing =
            addsOne
            ? nil
            : try Self.documents(ofRow: rowID, in: db).last { $0.answers(to: document.templateID) }
        // The transcript that is there, heard, supplied or corrected, is not made again.
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
            try Self.insert(document, rowID: rowID, at: now, in: db)
        }
        try Self.startAssembly(ofRow: rowID, at: now, in: db, &changes)
        return existing?.id ?? document.id
    }

    /// How many rows of a table belong to a transaction.
    static func count(_ table: String, of rowID: Int64, in db: any StoreSession) throws -> Int {
        try db.row("SELECT count(*) AS count FROM \(table) WHERE transaction_id = ?", [rowID])?["count"] ?? 0
    }

    /// - Parameter isAuthored: whether a client made it, and not the server.
    static func insert(
        _ document: ResultDocument, isAuthored: Bool = false, rowID: Int64, at now: Date, in db: any StoreSession
    ) throws {
        try db.insert(into: "documents").values([
            "document_id": document.id.rawValue, "transaction_id": rowID, "kind": document.kind.rawValue,
            "template_id": document.templateID.rawValue, "name": document.name,
            "format": document.format.rawValue, "language": document.language,
            "status": document.status.rawValue, "value": document.value, "is_authored": isAuthored,
            "updated_at": now.milliseconds, "created_at": now.milliseconds,
        ])
    }
}
