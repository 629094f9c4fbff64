package import Foundation
import GRDB
import ScribeDomain

/// What others are told of is raised by the change itself, in the SQL transaction that makes it true: then nothing that
/// happened is untold, and nothing is told that did not happen.
extension Store {
    /// Raises what has become true by time alone: that sessions' time is over.
    /// - Returns: when to look again, if any is to be looked for.
    package func expireSessions(at now: Date) async throws -> Date? {
        try await writes.write { db, changes in
            let expired = try db.rows(
                """
                UPDATE transactions SET expires_at = NULL WHERE id IN (
                    SELECT id FROM transactions WHERE expires_at <= ? ORDER BY expires_at LIMIT 100)
                RETURNING business_id, txn_id
                """,
                [now.milliseconds])
            for row in expired {
                let key = Transaction.Key(
                    business: BusinessID(row["business_id"]), id: TransactionID(row["txn_id"]))
                try Self.raise([.expired], of: key, at: now, in: db, &changes)
            }
            let next = try db.row(
                "SELECT min(expires_at) AS time FROM transactions WHERE expires_at IS NOT NULL")
            return (next?["time"] as Int64?).map(Date.init(milliseconds:))
        }
    }

    // MARK: Within a SQL transaction

    /// A session has begun; one that is never ended will be said to be over.
    func raiseStart(
        of transaction: Transaction, rowID: Int64, in db: Database, _ changes: inout [Change]
    ) throws {
        let webhooks = try Self.webhooks(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let now = transaction.createdAt
        let events: [SessionEvent] = transaction.userStatus.isOpen ? [.started] : [.started, .ended]
        try Self.raise(events, of: transaction.key, to: webhooks, at: now, in: db, &changes)
        if transaction.userStatus.isOpen, let lifetime = lifetime(of: transaction.request),
            webhooks.contains(where: { $0.announces(.expired) })
        {
            try db.run(
                "UPDATE transactions SET expires_at = ? WHERE id = ?",
                [now.addingTimeInterval(lifetime).milliseconds, rowID])
        }
    }

    /// Only of a session its time is ever over: what else was begun can be ended as late as one likes.
    private func lifetime(of request: TransactionRequest) -> TimeInterval? {
        if request.ambient != nil { return ambientLifetime }
        return request.session != nil ? sessionLifetime : nil
    }

    /// Processing has ended.
    static func raiseEnd(
        of transaction: Transaction, rowID: Int64, at now: Date, in db: Database, _ changes: inout [Change]
    ) throws {
        let webhooks = try webhooks(of: transaction.key.business, in: db)
        guard !webhooks.isEmpty else { return }
        let documents = try documents(ofRow: rowID, in: db)
        guard let event = SessionEvent(transaction.processingStatus, documents: documents) else { return }
        try raise([event], of: transaction.key, to: webhooks, at: now, in: db, &changes)
    }

    static func raise(
        _ events: [SessionEvent], of key: Transaction.Key, at now: Date, in db: Database, _ changes: inout [Change]
    ) throws {
        try raise(events, of: key, to: webhooks(of: key.business, in: db), at: now, in: db, &changes)
    }

    private static func raise(
        _ events: [SessionEvent], of key: Transaction.Key, to webhooks: [Webhook], at now: Date, in db: Database,
        _ changes: inout [Change]
    ) throws {
        for webhook in webhooks {
            for event in events where webhook.announces(event) {
                var detail: EventDetail?
                if webhook.style == .suki {
                    guard let found = try ambientDetail(of: key, for: webhook, in: db) else { continue }
                    detail = found
                }
                try enqueue(event, of: key.id, detail, to: webhook, at: now, in: db, &changes)
            }
        }
    }

    /// What Suki's partners are told of a session beside the event; nil for a transaction that is none of theirs.
    private static func ambientDetail(
        of key: Transaction.Key, for webhook: Webhook, in db: Database
    ) throws -> EventDetail? {
        guard let row = try transactionRow(key, in: db), let encounter = row["encounter_id"] as String?,
            webhook.client.rawValue == row["client_id"]
        else {
            return nil
        }
        let sessions = try db.rows(
            """
            SELECT txn_id FROM transactions WHERE business_id = ? AND encounter_id = ? AND user_id = ? ORDER BY id DESC
            LIMIT ?
            """,
            [key.business.rawValue, encounter, row["user_id"] as String, Limits.sessionsOfEncounter])
        let status: Transaction.ProcessingStatus = try row.word("processing_status")
        return EventDetail(
            encounter: encounter, sessions: sessions.reversed().map { $0["txn_id"] },
            isSkipped: status == .requestFailure)
    }

    /// - Returns: the delivery's id.
    @discardableResult
    static func enqueue(
        _ event: SessionEvent, of session: TransactionID, _ detail: EventDetail? = nil, to webhook: Webhook,
        at now: Date, in db: Database, _ changes: inout [Change]
    ) throws -> Int64 {
        let lane = "webhook \(webhook.id)"
        try db.run(
            """
            INSERT INTO deliveries (
                lane, business_id, webhook, event, session, occurred_at, queued_at, detail, run_at
            ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, iif(
                EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?3 AND session = ?5 AND settled_at IS NULL), NULL, ?6))
            """,
            [
                lane, webhook.business.rawValue, webhook.id, event.rawValue, session.rawValue, now.milliseconds,
                try detail.map { try StoredJSON.text(StoredEventDetail($0)) },
            ])
        let id = db.lastInsertedRowID
        changes.append(.delivery(lane: lane))
        return id
    }
}
