package import Foundation
package import ScribeDomain

/// Filter of deliveries for the operator API. A property that is nil excludes no delivery.
package struct DeliveryFilter: Hashable, Sendable {
    package var state: Delivery.State?
    package var webhook: Int64?
    package var session: String?
    package var business: BusinessID?
    /// Id of the last delivery on the page before. The page begins with the next older delivery.
    package var before: Int64?
    package var limit: Int

    package init(
        state: Delivery.State? = nil, webhook: Int64? = nil, session: String? = nil, business: BusinessID? = nil,
        before: Int64? = nil, limit: Int = 100
    ) {
        self.state = state
        self.webhook = webhook
        self.session = session
        self.business = business
        self.before = before
        self.limit = limit
    }
}

extension WebhookStore {
    /// Deliveries that match a filter, newest first.
    package func deliveries(_ filter: DeliveryFilter) async throws -> [DeliveryRecord] {
        // The index by session needs conditions that are always present. SQLite does not use it for optional ones.
        let isOfSession = filter.session != nil && filter.business != nil
        let session =
            isOfSession
            ? "business_id = ?6 AND session = ?3"
            : "(CAST(?6 AS TEXT) IS NULL OR business_id = ?6) AND (CAST(?3 AS TEXT) IS NULL OR session = ?3)"
        return try await read { db in
            try db.rows(
                """
                SELECT \(Self.columns) FROM deliveries WHERE \(session) AND (CAST(?1 AS TEXT) IS NULL OR state = ?1)
                    AND (CAST(?2 AS BIGINT) IS NULL OR webhook = ?2) AND (CAST(?4 AS BIGINT) IS NULL OR id < ?4)
                ORDER BY id DESC LIMIT ?5
                """,
                [
                    filter.state?.rawValue, filter.webhook, filter.session, filter.before, filter.limit,
                    filter.business?.rawValue,
                ]
            ).map { try self.record($0, in: db) }
        }
    }

    /// Counts the registrations, the unsettled deliveries and the failed deliveries.
    package func deliveryCounts() async throws -> (webhooks: Int, pending: Int, failed: Int) {
        try await read { db in
            let row = try db.row(
                """
                SELECT (SELECT count(*) FROM webhooks WHERE removed_at IS NULL) AS webhooks,
                    (SELECT count(*) FROM deliveries WHERE settled_at IS NULL) AS pending,
                    (SELECT count(*) FROM deliveries WHERE state = 'failed') AS failed
                """)
            return row.map { ($0["webhooks"], $0["pending"], $0["failed"]) } ?? (0, 0, 0)
        }
    }

    /// Most deliveries that ``deliveryTallies()`` counts, the newest ones: counting all would read the whole table.
    package static let mostTallied = 10_000

    /// Counts the newest deliveries by registration and state.
    /// - Returns: The numbers, and whether there may be more deliveries than were counted.
    package func deliveryTallies() async throws -> (ofWebhooks: [Int64: [Delivery.State: Int]], isCut: Bool) {
        try await read { db in
            let rows = try db.rows(
                """
                SELECT webhook, state, count(*) AS number FROM (
                    SELECT webhook, state FROM deliveries ORDER BY id DESC LIMIT ?) AS newest
                GROUP BY webhook, state
                """, [Self.mostTallied])
            var tallies: [Int64: [Delivery.State: Int]] = [:]
            var sum = 0
            for row in rows {
                let number: Int = row["number"]
                sum += number
                guard let webhook = row["webhook"] as Int64? else { continue }
                tallies[webhook, default: [:]][try row.word("state")] = number
            }
            return (tallies, sum >= Self.mostTallied)
        }
    }

    /// Delivery with an id; nil if it never existed or was deleted.
    package func delivery(_ id: Int64) async throws -> DeliveryRecord? {
        try await read { db in
            try db.row("SELECT \(Self.columns) FROM deliveries WHERE id = ?", [id]).map { try self.record($0, in: db) }
        }
    }

    /// Queues a settled delivery again.
    /// - Returns: nil if there is no such delivery.
    /// - Throws: ``ScribeError/invalidState(_:)`` if the delivery is not settled, its registration was removed, or its
    ///   content was deleted.
    package func replay(_ id: Int64, at now: Date) async throws -> DeliveryRecord? {
        try await database.write(.deliveries) { db, changes in
            guard let row = try db.row("SELECT \(Self.columns) FROM deliveries WHERE id = ?", [id]) else { return nil }
            guard (row["settled_at"] as Int64?) != nil else {
                throw ScribeError.invalidState("It is still on its way")
            }
            guard try Self.replay(row, at: now, in: db, &changes) else {
                throw ScribeError.invalidState(
                    (row["webhook"] as Int64?) == nil
                        ? "The callback's body was deleted" : "Its receiver is registered no more"
                )
            }
            return try db.row("SELECT \(Self.columns) FROM deliveries WHERE id = ?", [id]).map {
                try self.record($0, in: db)
            }
        }
    }

    /// Queues failed deliveries again, oldest first.
    /// - Parameter webhook: registration whose deliveries are queued; nil for all receivers.
    /// - Returns: the number of queued deliveries. Deliveries of removed registrations, and callbacks without content,
    ///   stay failed.
    package func replayFailed(of webhook: Int64?, at now: Date) async throws -> Int {
        // Those that fail again meanwhile are left out, by their ids: the clock may have been moved back.
        let end: Int64 = try await read { db in
            try db.row("SELECT max(id) AS id FROM deliveries WHERE state = 'failed'")?["id"] ?? 0
        }
        var count = 0
        var last: Int64 = 0
        // In batches, because other writes wait meanwhile.
        while true {
            let after = last
            let piece = try await database.write(.deliveries) { db, changes in
                let isTheirs = webhook == nil ? "CAST(?1 AS BIGINT) IS NULL" : "webhook = ?1"
                let rows = try db.rows(
                    """
                    SELECT \(Self.columns) FROM deliveries
                    WHERE state = 'failed' AND \(isTheirs) AND id > ?2 AND id <= ?3
                    ORDER BY id LIMIT 200
                    """,
                    [webhook, after, end])
                let replayed = try rows.count { try Self.replay($0, at: now, in: db, &changes) }
                return (last: rows.last?["id"] as Int64?, replayed: replayed)
            }
            count += piece.replayed
            guard let reached = piece.last else { return count }
            last = reached
        }
    }

    /// Deletes old deliveries, and the content of old failed callbacks.
    ///
    /// A callback has no registration: it goes to an address that a request named.
    /// - Parameters:
    ///   - delivered: successful deliveries from before this time are deleted.
    ///   - failed: failed deliveries from before this time are deleted.
    ///   - said: failed callbacks from before this time lose their content.
    /// - Returns: the number of deleted failed deliveries.
    package func forgetDeliveries(
        deliveredBefore delivered: Date, failedBefore failed: Date, saidBefore said: Date
    ) async throws -> Int {
        try await database.write(.none) { db in
            try db.run(
                """
                UPDATE deliveries SET body = NULL
                WHERE state = 'failed' AND settled_at < ? AND webhook IS NULL AND body IS NOT NULL
                """, [said.milliseconds])
        }
        var forgotten = 0
        while true {
            let piece = try await database.write(.none) { db in
                let delivered = try db.rows(
                    """
                    DELETE FROM deliveries WHERE id IN (
                        SELECT id FROM deliveries WHERE state = 'delivered' AND settled_at < ? LIMIT 500) RETURNING id
                    """, [delivered.milliseconds])
                let failed = try db.rows(
                    """
                    DELETE FROM deliveries WHERE id IN (
                        SELECT id FROM deliveries WHERE state = 'failed' AND settled_at < ? LIMIT 500) RETURNING id
                    """, [failed.milliseconds])
                return (delivered: delivered.count, failed: failed.count)
            }
            forgotten += piece.failed
            if piece.delivered + piece.failed == 0 { return forgotten }
        }
    }

    // MARK: Within a SQL transaction

    /// Columns of a delivery record. A callback's content is left out: it may be long, and operators must not read it.
    private static let columns = """
        id, lane, business_id, webhook, event, detail, session, address, state, attempts, occurred_at, run_at, problem, signature,
        settled_at, body IS NOT NULL AS has_body
        """

    /// Queues the settled delivery of a row again.
    /// - Returns: false if its registration was removed, or its callback's content was deleted.
    private static func replay(
        _ row: StoredRow, at now: Date, in db: any StoreSession, _ changes: inout [Change]
    ) throws -> Bool {
        if let webhook = row["webhook"] as Int64? {
            guard try self.webhook(webhook, in: db) != nil else { return false }
        } else if !(row["has_body"] as Bool) {
            return false
        }
        try db.run(
            """
            UPDATE deliveries SET state = 'pending', attempts = 0, settled_at = NULL, queued_at = CAST(?2 AS BIGINT),
                run_at = CASE
                    WHEN webhook IS NOT NULL AND EXISTS (
                        SELECT 1 FROM deliveries AS other
                        WHERE other.webhook = deliveries.webhook AND other.session = deliveries.session
                            AND other.settled_at IS NULL) THEN NULL
                    ELSE CAST(?2 AS BIGINT) END
            WHERE id = ?1
            """,
            [row["id"] as Int64, now.milliseconds])
        changes.append(.delivery(lane: row["lane"]))
        return true
    }

    private func record(_ row: StoredRow, in db: any StoreSession) throws -> DeliveryRecord {
        let webhook = try (row["webhook"] as Int64?).flatMap { id in
            try db.row("SELECT * FROM webhooks WHERE id = ?", [id]).map(Webhook.init(row:))
        }
        let kind = (row["event"] as String?).flatMap(SessionEvent.init(rawValue:))
        let vocabulary = webhook.flatMap { vocabularies[$0.style] }
        let name = kind.flatMap { vocabulary?.name(of: $0) }
        return DeliveryRecord(
            id: row["id"], business: BusinessID(row["business_id"]), webhook: webhook,
            event: kind.map { name ?? $0.rawValue } ?? "callback", kind: kind,
            detail: try (row["detail"] as String?).map(StoredJSON.object),
            session: row["session"],
            endpoint: webhook?.endpoint.text ?? row["address"] ?? "", state: try row.word("state"),
            attempts: row["attempts"], problem: row["problem"], signature: row["signature"],
            occurredAt: Date(milliseconds: row["occurred_at"]),
            nextAttempt: (row["run_at"] as Int64?).map(Date.init(milliseconds:)),
            settledAt: (row["settled_at"] as Int64?).map(Date.init(milliseconds:)))
    }
}
