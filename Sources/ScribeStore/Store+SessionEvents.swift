package import Foundation
package import ScribeDomain

/// Session events for webhooks. The SQL transaction of a change also stores the deliveries of its events.
///
/// No event is lost therefore, and no event is announced without its change.
extension Store {
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

    // MARK: Within a SQL transaction

    /// Raises the start of a recording, and schedules its expiry if a webhook announces it.
    func raiseStart(
        of transaction: Transaction, rowID: Int64, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        let webhooks = try Self.webhooks(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let now = transaction.createdAt
        let events: [SessionEvent] = transaction.userStatus.isOpen ? [.started] : [.started, .ended]
        try raise(events, of: transaction, to: webhooks, at: now, in: db, &changes)
        if transaction.userStatus.isOpen, let lifetime = policies[transaction.request.kind].lifetime,
            webhooks.contains(where: { vocabularies.announces(.expired, to: $0) })
        {
            let expiry = now.addingTimeInterval(lifetime).milliseconds
            let isNext = try db.row("SELECT 1 FROM transactions WHERE expires_at <= ? LIMIT 1", [expiry]) == nil
            try db.run("UPDATE transactions SET expires_at = ? WHERE id = ?", [expiry, rowID])
            if isNext { changes.append(.due(.expiry)) }
        }
    }

    /// Raises the event for the end of processing.
    func raiseEnd(
        of transaction: Transaction, rowID: Int64, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws {
        let webhooks = try Self.webhooks(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let documents = try Self.documents(ofRow: rowID, in: db)
        guard let event = SessionEvent(transaction.processingStatus, documents: documents) else { return }
        try raise([event], of: transaction, to: webhooks, at: now, in: db, &changes)
    }

    func raise(
        _ events: [SessionEvent], of transaction: Transaction, at now: Date, in db: any StoreSession,
        _ changes: inout [Change]
    ) throws {
        let webhooks = try Self.webhooks(of: transaction.key.business, in: db)
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
                try Self.enqueue(event, of: transaction.id, detail, to: webhook, at: now, in: db, &changes)
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

    /// Enqueues the delivery of an event to a webhook. The delivery waits for earlier ones of the same transaction.
    /// - Returns: the delivery's id.
    @discardableResult
    static func enqueue(
        _ event: SessionEvent, of session: TransactionID, _ detail: JSONValue? = nil, to webhook: Webhook,
        at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Int64 {
        let lane = "webhook \(webhook.id)"
        try db.run(
            """
            INSERT INTO deliveries (
                lane, business_id, webhook, event, session, occurred_at, queued_at, detail, run_at
            ) VALUES (?1, ?2, ?3, ?4, ?5, CAST(?6 AS BIGINT), CAST(?6 AS BIGINT), ?7, CASE
                WHEN EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?3 AND session = ?5 AND settled_at IS NULL)
                THEN NULL ELSE CAST(?6 AS BIGINT) END)
            """,
            [
                lane, webhook.business.rawValue, webhook.id, event.rawValue, session.rawValue, now.milliseconds,
                detail.map { StoredJSON.text(.value($0)) },
            ])
        let id = try db.insertedID()
        changes.append(.delivery(lane: lane))
        return id
    }
}
