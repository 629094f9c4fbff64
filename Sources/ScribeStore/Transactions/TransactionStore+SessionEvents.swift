import Basics
package import Foundation
package import ScribeDomain

/// Session events for webhooks. The SQL transaction of a change also stores the deliveries of its events.
///
/// No event is lost therefore, and no event is announced without its change.
extension TransactionStore {
    /// Raises the expiry of recordings whose lifetime has ended, at most 100 at a time.
    /// - Returns: the time of the next expiry, nil without one; and the ids of transactions whose row cannot be read.
    ///   No webhook is notified of those.
    package func expireSessions(at now: Date) async throws -> (next: Date?, unreadable: [TransactionID]) {
        try await database.write(.none) { db, changes in
            let expired = try db.rows(
                """
                UPDATE transactions SET expires_at = NULL WHERE expires_at <= ?1 AND id IN (
                    SELECT id FROM transactions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 100)
                RETURNING business_id, txn_id
                """,
                [now.milliseconds])
            var unreadable: [TransactionID] = []
            for row in expired {
                let key = Transaction.Key(
                    business: BusinessID(row["business_id"]), id: TransactionID(row["txn_id"]))
                guard let found = try Self.transactionRow(key, in: db) else { continue }
                guard let transaction = try? Transaction(row: found, withChunks: false) else {
                    unreadable.append(key.id)
                    continue
                }
                try self.raise([.expired], of: transaction, at: now, in: db, &changes)
            }
            let next = try db.row(
                "SELECT min(expires_at) AS time FROM transactions WHERE expires_at IS NOT NULL")
            return ((next?["time"] as Int64?).map(Date.init(milliseconds:)), unreadable)
        }
    }

    /// Notes that a stream of a recording has sent a message. Nothing happens to a recording that is not open.
    package func noteAudio(of key: Transaction.Key, at now: Date) async throws {
        try await database.write(.transaction(key)) { db in
            let row = try db.row(
                """
                SELECT id, kind, created_at, audio_at FROM transactions
                WHERE business_id = ? AND txn_id = ? AND user_status IN ('init', 'stopped')
                """,
                [key.business.rawValue, key.id.rawValue])
            if let row { try self.noteAudio(ofRow: row, at: now, in: db) }
        }
    }

    // MARK: Within a SQL transaction

    /// Moves the end of a recording's lifetime, and the event about it.
    /// - Parameter row: has `id`, `kind`, `created_at` and `audio_at`.
    func noteAudio(ofRow row: StoredRow, at now: Date, in db: any StoreSession) throws {
        guard let lifetime = policies[RecordingKind(row["kind"])].lifetime else { return }
        let last = max(now, (row["audio_at"] as Int64?).map(Date.init(milliseconds:)) ?? .distantPast)
        let end = lifetime.end(begun: Date(milliseconds: row["created_at"]), lastAudio: last)
        try db.run(
            """
            UPDATE transactions SET audio_at = ?, expires_at = CASE WHEN expires_at IS NOT NULL THEN CAST(? AS BIGINT) END
            WHERE id = ?
            """,
            [last.milliseconds, end.milliseconds, row["id"] as Int64])
    }

    /// Raises the start of a recording, and schedules its expiry if a webhook subscribes to it, also a paused one.
    func raiseStart(
        of transaction: Transaction, rowID: Int64, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        let webhooks = try store.webhooks.all(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let now = transaction.createdAt
        let events: [SessionEvent] = transaction.userStatus.isOpen ? [.started] : [.started, .ended]
        try raise(events, of: transaction, to: webhooks, at: now, in: db, &changes)
        if transaction.userStatus.isOpen, let lifetime = policies[transaction.request.kind].lifetime,
            webhooks.contains(where: { vocabularies.subscribes($0, to: .expired) })
        {
            let expiry = lifetime.end(begun: now, lastAudio: nil).milliseconds
            let isNext = try db.row("SELECT 1 FROM transactions WHERE expires_at <= ? LIMIT 1", [expiry]) == nil
            try db.run("UPDATE transactions SET expires_at = ? WHERE id = ?", [expiry, rowID])
            if isNext { changes.append(.due(.expiry)) }
        }
    }

    /// Raises the event for the end of processing.
    func raiseEnd(
        of transaction: Transaction, rowID: Int64, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        let webhooks = try store.webhooks.all(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let documents = try DocumentStore.documents(ofRow: rowID, in: db)
        guard let event = SessionEvent(transaction.processingStatus, documents: documents) else { return }
        try raise([event], of: transaction, to: webhooks, at: now, in: db, &changes)
    }

    func raise(
        _ events: [SessionEvent], of transaction: Transaction, at now: Date, in db: any StoreSession,
        _ changes: inout [Change]
    ) throws {
        let webhooks = try store.webhooks.all(of: transaction.key.business, in: db)
        try raise(events, of: transaction, to: webhooks, at: now, in: db, &changes)
    }

    private func raise(
        _ events: [SessionEvent], of transaction: Transaction, to webhooks: [Webhook], at now: Date,
        in db: any StoreSession,
        _ changes: inout [Change]
    ) throws {
        for webhook in webhooks {
            guard let vocabulary = vocabularies[webhook.style], vocabulary.notifies(webhook, about: transaction) else {
                continue
            }
            for event in events where vocabulary.announces(event, to: webhook) {
                let detail = try vocabulary.detail(of: transaction) { try visit(of: transaction, in: db) }
                try WebhookStore.enqueue(event, of: transaction.id, detail, to: webhook, at: now, in: db, &changes)
            }
        }
    }

    /// Newest recordings of a recording's visit, oldest first, at most ``Limits/sessionsOfEncounter``.
    private func visit(of transaction: Transaction, in db: any StoreSession) throws -> [TransactionID] {
        guard let visit = policies[transaction.request.kind].visit(of: transaction.request) else { return [] }
        return try db.rows(
            """
            SELECT txn_id FROM transactions WHERE business_id = ? AND encounter_id = ? AND user_id = ? ORDER BY id DESC
            LIMIT ?
            """,
            [
                transaction.key.business.rawValue, visit, transaction.owner.user.rawValue,
                Limits.sessionsOfEncounter,
            ]
        ).reversed().map { TransactionID($0["txn_id"]) }
    }
}
