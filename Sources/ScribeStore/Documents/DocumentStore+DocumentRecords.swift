package import Basics
package import Foundation
package import ScribeDomain

/// Document with its author, times and publication.
package struct DocumentRecord: Hashable, Sendable {
    package let document: ResultDocument
    package let transaction: TransactionID
    /// Whether a client wrote the document; false for a result of the server.
    package let isAuthored: Bool
    package let createdAt: Date
    package let updatedAt: Date
    package let publishedAt: Date?
    /// JSON object that the client stores with the document, for its place of publication.
    package let publication: JSONValue
    /// Content in the format of the web client's editor; nil if the document was never edited there.
    package let editorContent: JSONValue?
    /// Whether the last edit was plain text through the document's link. The link answers such a text unchanged.
    package let isPlainByLink: Bool
}

/// Client's change of a document; nil leaves a property unchanged.
package struct DocumentChange: Hashable, Sendable {
    package var name: String?
    package var value: String?
    package var publication: JSONValue?
    package var editorContent: JSONValue?
    /// Whether the new text came as plain text through the document's link.
    package var isPlainByLink = false

    package init(
        name: String? = nil, value: String? = nil, publication: JSONValue? = nil, editorContent: JSONValue? = nil,
        isPlainByLink: Bool = false
    ) {
        self.isPlainByLink = isPlainByLink
        self.name = name
        self.value = value
        self.publication = publication
        self.editorContent = editorContent
    }
}

/// Transcript of one chunk, or the reason why its transcription failed.
package struct ChunkTranscript: Hashable, Sendable {
    package let result: Result<RecognisedSpeech, Diagnostic>
    /// Start and end of the chunk in the recording; nil if unknown.
    package let times: ChunkTimes?
    package let languages: [String]
}

extension DocumentStore {
    /// Transaction with its context and the records of its documents; nil without such a transaction.
    ///
    /// The records have neither text nor editor content. The context is the JSON that the client stores with the
    /// transaction.
    package func session(
        _ key: Transaction.Key
    ) async throws -> (transaction: Transaction, context: JSONValue, documents: [DocumentRecord])? {
        try await read { db in
            guard let row = try TransactionStore.transactionRow(key, in: db) else { return nil }
            let documents = try db.rows(
                """
                SELECT document_id, kind, template_id, name, format, language, is_edited, status, errors, warnings,
                    is_authored, published_at, publication, is_plain_by_link, updated_at, created_at, ? AS txn_id,
                    NULL AS value, NULL AS editor_content
                FROM documents WHERE transaction_id = ? AND archived_at IS NULL ORDER BY id
                """,
                [key.id.rawValue, row["id"] as Int64]
            ).map(DocumentRecord.init(row:))
            return (try Transaction(row: row), try StoredJSON.value(row["context"]), documents)
        }
    }

    /// Changes the context that a client stores with a transaction.
    /// - Returns: the context after the change.
    /// - Throws: ``ScribeError/transactionNotFound``, and errors of `change`.
    package func updateContext(
        of key: Transaction.Key, _ change: @escaping @Sendable (JSONValue) throws(ScribeError) -> JSONValue
    ) async throws -> JSONValue {
        try await database.write(.transaction(key)) { db, changes in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            changes.append(.transaction(key))
            return try Self.updateContext(of: row, in: db, change)
        }
    }

    /// Start times of a business's transactions, by id. Ids without a transaction are left out.
    package func startTimes(of ids: [String], in business: BusinessID) async throws -> [String: Date] {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT txn_id, created_at FROM transactions WHERE business_id = ? AND archived_at IS NULL
                    AND txn_id \(db.isAmong(2))
                """,
                [business.rawValue, try StoredJSON.text(ids)]
            )
            // Ids with different bytes may be equal as Swift strings.
            return Dictionary(
                rows.map { ($0["txn_id"], Date(milliseconds: $0["created_at"])) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    /// Stores a document that a client has written.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/storageQuotaExceeded``.
    /// - Parameters:
    ///   - change: publication and editor content of the document.
    ///   - context: makes the transaction's new context from its current one.
    package func add(
        _ document: ResultDocument, _ change: DocumentChange, to key: Transaction.Key, at now: Date,
        context: @escaping @Sendable (JSONValue) -> JSONValue
    ) async throws -> DocumentRecord {
        try await database.write(.transaction(key)) { db, changes in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            changes.append(.transaction(key))
            try Limits.require(
                try Self.count("documents", of: row["id"], in: db) + 1, atMost: Limits.results + Limits.documents,
                "session_id")
            try store.audio.withinQuota(of: key.business, in: db) {
                try Self.insert([document], areAuthored: true, rowID: row["id"], at: now, in: db)
                try Self.keep(change, with: document.id, in: db)
            }
            _ = try Self.updateContext(of: row, in: db, context)
            guard let added = try Self.document(document.id, of: key.business, in: db) else {
                throw ScribeError.resourceNotFound("Document not found")
            }
            return added
        }
    }

    /// Document of a business, in any of its transactions; nil without such a document.
    package func document(_ id: DocumentID, of business: BusinessID) async throws -> DocumentRecord? {
        try await read { try Self.document(id, of: business, in: $0) }
    }

    /// Changes a document. A new text marks the document as written by a person.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``, ``ScribeError/storageQuotaExceeded``.
    package func rewrite(
        _ id: DocumentID, of business: BusinessID, _ edit: DocumentChange, at now: Date
    ) async throws -> DocumentRecord {
        try await change(id, of: business) { db in
            try db.run(
                "UPDATE documents SET name = coalesce(?, name), updated_at = ? WHERE document_id = ?",
                [edit.name, now.milliseconds, id.rawValue]
            )
            try Self.keep(edit, with: id, in: db)
            guard let value = edit.value else { return }
            try Self.setValue(value, of: id, at: now, in: db)
            // After the value: the trigger on its change clears the flag.
            if edit.isPlainByLink {
                try db.run("UPDATE documents SET is_plain_by_link = 1 WHERE document_id = ?", [id.rawValue])
            }
        }
    }

    /// Sets a document's time of publication, unless the document was published before.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``.
    package func publish(
        _ id: DocumentID, of key: Transaction.Key, at now: Date
    ) async throws -> DocumentRecord {
        try await change(id, of: key.business, in: key.id) { db in
            try db.run(
                "UPDATE documents SET published_at = coalesce(published_at, ?) WHERE document_id = ?",
                [now.milliseconds, id.rawValue]
            )
        }
    }

    /// Archives a document that a client has written. Results of the server cannot be archived, because they belong to
    /// their transaction.
    /// - Returns: false if the document was archived before.
    /// - Throws: ``ScribeError/resourceNotFound(_:)``; ``ScribeError/invalidState(_:)`` for a result of the server.
    package func archiveDocument(_ id: DocumentID, of business: BusinessID, at now: Date) async throws -> Bool {
        try await database.write(.document(id)) { db, changes in
            guard let found = try Self.document(id, of: business, in: db) else {
                let hidden = try db.row(
                    """
                    SELECT 1 FROM documents JOIN transactions ON transactions.id = transaction_id
                    WHERE document_id = ? AND business_id = ? AND documents.archived_at IS NOT NULL
                    """,
                    [id.rawValue, business.rawValue]
                )
                guard hidden != nil else { throw ScribeError.resourceNotFound("Document not found") }
                return false
            }
            guard found.isAuthored else {
                throw ScribeError.invalidState("A result of the transaction cannot be deleted by itself")
            }
            try db.run("UPDATE documents SET archived_at = ? WHERE document_id = ?", [now.milliseconds, id.rawValue])
            changes.append(.transaction(Transaction.Key(business: business, id: found.transaction)))
            return true
        }
    }

    /// Transcript of one chunk; nil if the chunk has none yet, or was replaced after the transcription.
    /// - Parameter file: name or number of the chunk.
    package func chunkTranscript(
        of key: Transaction.Key, file: String
    ) async throws -> ChunkTranscript? {
        try await read { db in
            let row = try TransactionStore.requireTransactionRow(key, in: db)
            let transaction = try Transaction(row: row)
            let transcripts = try Self.chunkTranscripts(ofRow: row["id"], in: db)
            guard let name = WorkStore.chunkName(file, among: transcripts.keys), let transcript = transcripts[name]
            else {
                return nil
            }
            // The chunk was replaced: the transcript belongs to its former bytes.
            if transaction.processingStatus == .inProgress,
                let upload = try AudioStore.upload(of: name, in: transaction, db),
                upload.eTag != transcript.eTag
            {
                return nil
            }
            return ChunkTranscript(
                result: transcript.result, times: transaction.stopped.times[name],
                languages: transaction.request.inputLanguages)
        }
    }

    private static func keep(_ change: DocumentChange, with id: DocumentID, in db: any StoreSession) throws {
        guard change.publication != nil || change.editorContent != nil else { return }
        try db.run(
            """
            UPDATE documents SET publication = coalesce(?, publication), editor_content = coalesce(?, editor_content)
            WHERE document_id = ?
            """,
            [
                change.publication.map { StoredJSON.text($0) },
                change.editorContent.map { StoredJSON.text($0) }, id.rawValue,
            ]
        )
    }

    private static func updateContext(
        of row: StoredRow, in db: any StoreSession, _ change: (JSONValue) throws(ScribeError) -> JSONValue
    ) throws -> JSONValue {
        let before: JSONValue = try StoredJSON.value(row["context"])
        let context = try change(before)
        if context != before {
            try db.run(
                "UPDATE transactions SET context = ? WHERE id = ?",
                [StoredJSON.text(context), row["id"] as Int64]
            )
        }
        return context
    }

    private func change(
        _ id: DocumentID, of business: BusinessID, in transaction: TransactionID? = nil,
        _ change: @escaping @Sendable (any StoreSession) throws -> Void
    ) async throws -> DocumentRecord {
        try await database.write(.document(id)) { db, changes in
            guard let found = try Self.document(id, of: business, in: db),
                transaction == nil || found.transaction == transaction
            else { throw ScribeError.resourceNotFound("Document not found") }
            try store.audio.withinQuota(of: business, in: db) { try change(db) }
            guard let changed = try Self.document(id, of: business, in: db) else {
                throw ScribeError.resourceNotFound("Document not found")
            }
            changes.append(.transaction(Transaction.Key(business: business, id: changed.transaction)))
            return changed
        }
    }

    private static func document(_ id: DocumentID, of business: BusinessID, in db: any StoreSession) throws
        -> DocumentRecord?
    {
        try db.row(
            """
            SELECT documents.*, txn_id FROM documents JOIN transactions ON transactions.id = transaction_id
            WHERE document_id = ? AND business_id = ? AND documents.archived_at IS NULL
                AND transactions.archived_at IS NULL
            """,
            [id.rawValue, business.rawValue]
        ).map(DocumentRecord.init(row:))
    }
}

extension DocumentRecord {
    fileprivate init(row: StoredRow) throws {
        self.init(
            document: try ResultDocument(row: row), transaction: TransactionID(row["txn_id"]),
            isAuthored: row["is_authored"], createdAt: Date(milliseconds: row["created_at"]),
            updatedAt: Date(milliseconds: row["updated_at"]),
            publishedAt: (row["published_at"] as Int64?).map(Date.init(milliseconds:)),
            publication: try StoredJSON.value(row["publication"]),
            editorContent: try (row["editor_content"] as String?).map { try StoredJSON.value($0) },
            isPlainByLink: row["is_plain_by_link"]
        )
    }
}
