import Basics
package import Foundation
package import ScribeDomain

extension ConversationStore {
    /// Query for a user's conversations, by status, source and time of creation.
    package struct ConversationQuery: Hashable, Sendable {
        package var statuses: [Conversation.Status]
        /// Sources of the wanted conversations; nil for all.
        package var sources: [String]?
        package var from: Date?
        package var to: Date?
        package var offset: Int
        package var limit: Int

        package init(
            statuses: [Conversation.Status], sources: [String]? = nil, from: Date? = nil, to: Date? = nil, offset: Int,
            limit: Int
        ) {
            self.statuses = statuses
            self.sources = sources
            self.from = from
            self.to = to
            self.offset = offset
            self.limit = limit
        }
    }

    /// Conversation of a user that is in progress; nil without one.
    package func conversationInProgress(of principal: Principal) async throws -> Conversation? {
        try await read { try Self.inProgress(principal, in: $0).map { try Conversation(row: $0) } }
    }

    /// Whether a conversation id is free: neither a conversation of any user nor a transaction of the user's business
    /// has the id.
    package func isFreeConversation(_ id: String, for principal: Principal) async throws -> Bool {
        try await read { db in
            try db.row(
                """
                SELECT 1 WHERE EXISTS (SELECT 1 FROM conversations WHERE conversation_id = ?1)
                    OR EXISTS (SELECT 1 FROM transactions WHERE business_id = ?2 AND txn_id = ?1)
                """,
                [id, principal.business.rawValue]) == nil
        }
    }

    /// Starts a conversation together with its transaction, or returns the user's conversation in progress.
    /// - Returns: nil if another conversation has the id.
    /// - Throws: errors of ``initialise(_:documents:replays:)``.
    package func begin(
        _ conversation: Conversation, as transaction: Transaction, documents: [ResultDocument]
    ) async throws -> Conversation? {
        try transaction.request.requireWithinLimits()
        return try await database.write(
            .user(conversation.owner), .transaction(transaction.key), .client(transaction.owner.client)
        ) { db, changes in
            if let row = try Self.inProgress(conversation.owner, in: db) { return try Conversation(row: row) }
            let taken = try db.row("SELECT 1 FROM conversations WHERE conversation_id = ?", [conversation.id])
            guard taken == nil else { return nil }
            _ = try store.transactions.initialise(transaction, documents: documents, replays: true, in: db, &changes)
            let owner = conversation.owner
            try db.insert(into: "conversations").values([
                "conversation_id": conversation.id, "business_id": owner.business.rawValue,
                "user_id": owner.user.rawValue, "doctor_id": owner.doctor.rawValue,
                "client_id": owner.client.rawValue, "status": conversation.status.rawValue,
                "source": conversation.source, "language": conversation.language,
                "created_at": conversation.createdAt.milliseconds,
                "started_at": conversation.startedAt.milliseconds,
                "finished_at": conversation.finishedAt.milliseconds, "timeout": conversation.timeout,
            ])
            changes.append(.due(.silence))
            return conversation
        }
    }

    /// State of a conversation after segments were added.
    package struct AddedWords: Hashable, Sendable {
        package let urgency: Urgency
        /// Level of urgency before the segments were added.
        package let levelBefore: Urgency.Level
        /// Approximate size of all segments of the conversation, in bytes.
        package let size: Int
    }

    /// Adds segments to a conversation that is in progress.
    /// - Parameters:
    ///   - urgency: urgency of the new segments.
    ///   - timeout: length of the silence that ends the conversation, in seconds.
    /// - Returns: nil if the conversation has ended, also by silence. Nothing is added then.
    package func addSegments(
        _ segments: [ConversationSegment], to id: String, urgency: Urgency, timeout: Int, at now: Date
    ) async throws -> AddedWords? {
        try await database.write(.conversation(id)) { db, changes in
            // Each segment takes some bytes beside its text.
            let size = segments.total { $0.text.utf8.count + 64 }
            let before = try db.row("SELECT timeout FROM conversations WHERE conversation_id = ?", [id])
            let row = try db.row(
                """
                UPDATE conversations SET finished_at = CASE WHEN finished_at < ?1 THEN ?1 ELSE finished_at END,
                    text_size = text_size + ?2, timeout = ?3
                WHERE conversation_id = ?4 AND status = 'in_progress' AND finished_at + timeout * 1000 > ?1
                RETURNING id, text_size, urgency
                """,
                [now.milliseconds, size, timeout, id])
            guard let row else { return nil }
            // Silence may end the conversation sooner, because another socket of the user has a shorter timeout.
            if let before, timeout < before["timeout"] { changes.append(.due(.silence)) }
            for segment in segments { try Self.insert(segment, conversation: row["id"], in: db) }
            var merged = try StoredJSON.value(row["urgency"], as: StoredUrgency.self).value
            let levelBefore = merged.level
            merged.level = max(levelBefore, urgency.level)
            merged.reasons = Array((merged.reasons + urgency.reasons).prefix(Limits.urgencyReasons))
            if urgency.level > .none {
                try db.run(
                    "UPDATE conversations SET urgency = ? WHERE id = ?",
                    [try StoredJSON.text(StoredUrgency(merged)), row["id"] as Int64])
            }
            return AddedWords(urgency: merged, levelBefore: levelBefore, size: row["text_size"])
        }
    }

    /// Begins the processing of a conversation, or begins it again. Of several processes one succeeds: it has a lease,
    /// which ends with the processing, by ``leave(conversation:)``, or with the process.
    /// - Returns: false if the conversation does not have the status `old`, or another process has the lease.
    package func beginProcessing(_ id: String, from old: Conversation.Status) async throws -> Bool {
        try await database.write(.conversation(id)) { [holder] db, changes in
            let found = try db.row("SELECT status FROM conversations WHERE conversation_id = ?", [id])
            guard found?["status"] as String? == old.rawValue,
                try holder.isAlone || WorkStore.lease(Self.lease(ofConversation: id), to: holder, in: db)
            else { return false }
            guard old == .inProgress else { return true }
            try db.run("UPDATE conversations SET status = 'processing' WHERE conversation_id = ?", [id])
            // The task that ends the conversation may be interrupted. The loop for silence finds the conversation then.
            changes.append(.due(.silence))
            return true
        }
    }

    /// Ends the lease of a conversation whose processing has failed.
    package func leave(conversation id: String) async throws {
        try await database.write(.conversation(id)) { [holder] db in
            try db.run(
                "DELETE FROM leases WHERE name = ? AND owner = ?", [Self.lease(ofConversation: id), holder.id])
        }
    }

    static func lease(ofConversation id: String) -> String { "conversation \(id)" }

    /// Completes a conversation: stores its summary, and the memories that the user does not have yet. One whose status
    /// is another by now, because another process has processed it, stays as it is.
    /// - Parameters:
    ///   - note: transcript of the conversation, and the document to write from it. A transaction that was cancelled or
    ///     committed before takes neither, and the conversation is completed anyway. Without a note the transaction is
    ///     committed with its audio, or cancelled if it has none, so that no transaction stays open.
    ///   - keepsTitle: whether an existing title stays, because a person may have set it.
    package func complete(
        _ conversation: Conversation, memories: [Memory], note: (transcript: String, document: ResultDocument)? = nil,
        keepsTitle: Bool = true, at now: Date
    ) async throws -> Conversation {
        try await database.write(
            .conversation(conversation.id), .user(conversation.owner), .transaction(conversation.key)
        ) { db, changes in
            guard let row = try db.row("SELECT * FROM conversations WHERE conversation_id = ?", [conversation.id])
            else {
                return conversation
            }
            var completed = try Conversation(row: row)
            guard completed.status == conversation.status else { return completed }
            try db.run("DELETE FROM leases WHERE name = ?", [Self.lease(ofConversation: conversation.id)])
            if let note {
                try self.convert(conversation.key, note.transcript, to: note.document, at: now, in: db, &changes)
            } else {
                try self.commitAudio(of: conversation.key, at: now, in: db, &changes)
            }
            let title = completed.summary.title
            completed.status = .completed
            completed.summary = conversation.summary
            if keepsTitle, !title.isEmpty { completed.summary.title = title }
            try db.run(
                "UPDATE conversations SET status = 'completed', summary = ? WHERE conversation_id = ?",
                [try StoredJSON.text(StoredSummary(completed.summary)), conversation.id])
            let owner = conversation.owner
            let count = try Self.countOfMemories(of: owner, in: db)
            for memory in memories.prefix(max(0, Limits.memories - count)) {
                try Self.insert(memory, of: owner, unlessKnown: true, in: db)
            }
            return completed
        }
    }

    /// Commits a conversation's transcript and requests its note. A refusal by the transaction is ignored and changes
    /// nothing.
    private func convert(
        _ key: Transaction.Key, _ transcript: String, to document: ResultDocument, at now: Date,
        in db: any StoreSession,
        _ changes: inout [Change]
    ) throws {
        do {
            var converted = changes
            try db.savepoint {
                _ = try store.documents.convert(
                    key, to: document, from: .transcript(transcript), replacesEdited: false, addsOne: false, at: now,
                    in: db, &converted)
            }
            changes = converted
        } catch let error as ScribeError where error.kind != .unavailable {
            return
        }
    }

    /// Ends a transaction that is still open: commits the files that have arrived, or cancels it without files.
    private func commitAudio(
        of key: Transaction.Key, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        guard let row = try TransactionStore.transactionRow(key, in: db) else { return }
        let old = try Transaction(row: row)
        guard old.userStatus.isOpen else { return }
        var transaction = old
        let files = try TransactionStore.chunkNames(of: old, in: db)
        var cancellation = TransactionPatch()
        cancellation.isCancellation = true
        let effect =
            files.isEmpty
            ? transaction.apply(cancellation, at: now)
            : try transaction.commit(ChunkList(files: files), mayChangeResults: false, at: now)
        try store.transactions.applyAndHandOver(
            effect, to: transaction, insteadOf: old, rowID: row["id"], at: now, in: db, &changes)
    }

    // MARK: Within a SQL transaction

    static func rows(
        _ columns: String, of principal: Principal, _ query: ConversationQuery, in db: any StoreSession
    ) throws -> [StoredRow] {
        try db.rows(
            """
            SELECT \(columns) FROM conversations WHERE business_id = ?1 AND user_id = ?2
                AND status \(db.isAmong(3)) AND created_at >= ?4 AND created_at <= ?5
                AND (CAST(?8 AS TEXT) IS NULL OR source \(db.isAmong(8)))
            ORDER BY created_at DESC, id DESC LIMIT ?6 OFFSET ?7
            """,
            [
                principal.business.rawValue, principal.user.rawValue,
                try StoredJSON.text(query.statuses.map(\.rawValue)), query.from?.milliseconds ?? 0,
                query.to?.milliseconds ?? Int64.max, query.limit, query.offset,
                try query.sources.map { try StoredJSON.text($0) },
            ])
    }

    static func inProgress(_ principal: Principal, in db: any StoreSession) throws -> StoredRow? {
        try db.row(
            "SELECT * FROM conversations WHERE business_id = ? AND user_id = ? AND status = 'in_progress'",
            [principal.business.rawValue, principal.user.rawValue])
    }

    static func row(of id: String, _ principal: Principal, in db: any StoreSession) throws -> StoredRow? {
        try db.row(
            "SELECT * FROM conversations WHERE conversation_id = ? AND business_id = ? AND user_id = ?",
            [id, principal.business.rawValue, principal.user.rawValue])
    }
}

extension Conversation {
    init(row: StoredRow) throws {
        self.init(
            id: row["conversation_id"],
            owner: Principal(row: row),
            status: try row.word("status"), source: row["source"], language: row["language"],
            createdAt: Date(milliseconds: row["created_at"]), startedAt: Date(milliseconds: row["started_at"]),
            finishedAt: Date(milliseconds: row["finished_at"]), timeout: row["timeout"],
            summary: try StoredJSON.value(row["summary"], as: StoredSummary.self).value,
            urgency: try StoredJSON.value(row["urgency"], as: StoredUrgency.self).value, visibility: row["visibility"])
    }
}
