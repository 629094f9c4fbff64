import Basics
package import Foundation
package import ScribeDomain

/// Result of claiming deliveries of a lane.
package enum DeliveryClaim: Hashable, Sendable {
    /// At least one delivery.
    case deliveries([Delivery])
    /// No delivery is due before `until`; nil when none is scheduled.
    case nothing(until: Date?)
}

/// State of a delivery after an attempt.
package enum Settlement: String, Hashable, Sendable {
    case delivered
    /// The attempt failed, and another attempt is scheduled.
    case retried
    case failed
    /// Another process has taken the lane over, and sends the message again.
    case lost
}

extension WebhookStore {
    /// Names of the lanes with pending deliveries.
    package func deliveryLanes() async throws -> [String] {
        try await read { db in
            try db.rows("SELECT DISTINCT lane FROM deliveries WHERE state = 'pending'").map { $0["lane"] }
        }
    }

    /// Claims the due deliveries of a lane, in order. Of one transaction at most one delivery is due.
    package func claimDeliveries(in lane: String, upTo limit: Int, at now: Date) async throws -> DeliveryClaim {
        try await database.write(.lane(lane)) { [holder] db in
            guard try WorkStore.leaseLane(lane, to: holder, in: db) else { return .nothing(until: nil) }
            let claimed = try db.rows(
                """
                UPDATE deliveries SET state = 'sending', attempts = attempts + 1 WHERE id IN (
                    SELECT id FROM deliveries WHERE lane = ? AND state = 'pending' AND run_at <= ?
                    ORDER BY run_at, id LIMIT ?)
                RETURNING *
                """,
                [lane, now.milliseconds, limit])
            guard !claimed.isEmpty else {
                let next = try db.row(
                    "SELECT min(run_at) AS time FROM deliveries WHERE lane = ? AND state = 'pending'", [lane])
                return .nothing(until: (next?["time"] as Int64?).map(Date.init(milliseconds:)))
            }
            return .deliveries(try claimed.map { try Self.delivery($0, in: db) }.sorted { $0.id < $1.id })
        }
    }

    /// Stores the outcome of an attempt. The next delivery of the transaction becomes due, unless this one is retried.
    package func settle(
        _ delivery: Delivery, _ outcome: DeliveryOutcome, at now: Date
    ) async throws -> Settlement {
        try await database.write(.lane(delivery.lane), .subject(of: delivery)) { db, changes in
            let held = try db.row(
                "SELECT 1 FROM deliveries WHERE id = ? AND state = 'sending' AND attempts = ?",
                [delivery.id, delivery.attempt])
            guard held != nil else { return .lost }
            let settlement: Settlement
            switch outcome {
            case .delivered(let signature):
                settlement = .delivered
                try db.run(
                    """
                    UPDATE deliveries SET state = 'delivered', run_at = NULL, problem = NULL, signature = ?, body = NULL,
                        settled_at = ? WHERE id = ?
                    """,
                    [signature, now.milliseconds, delivery.id])
            case .failed(let problem), .abandoned(let problem):
                let isRegistered = try Self.isRegistered(delivery, in: db)
                if case .failed = outcome, isRegistered, delivery.attempt <= delivery.pauses.count {
                    settlement = .retried
                    let pause = delivery.pauses[max(0, delivery.attempt - 1)] / .seconds(1)
                    try db.run(
                        "UPDATE deliveries SET state = 'pending', run_at = ?, problem = ? WHERE id = ?",
                        [now.addingTimeInterval(pause).milliseconds, problem, delivery.id])
                } else {
                    settlement = .failed
                    try db.run(
                        """
                        UPDATE deliveries SET state = 'failed', run_at = NULL, problem = ?, settled_at = ? WHERE id = ?
                        """,
                        [isRegistered ? problem : Self.removed, now.milliseconds, delivery.id])
                }
            }
            if settlement != .retried { try Self.wakeNext(after: delivery, at: now, in: db) }
            changes.append(.delivery(lane: delivery.lane))
            return settlement
        }
    }

    /// Makes an interrupted delivery pending again, due at once. The interrupted attempt does not count.
    package func giveBack(_ delivery: Delivery) async throws {
        try await database.write(.lane(delivery.lane)) { db in
            try db.run(
                """
                UPDATE deliveries SET state = 'pending', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END
                WHERE id = ? AND state = 'sending' AND attempts = ?
                """, [delivery.id, delivery.attempt])
        }
    }

    /// Makes a claimed delivery due at a later time. The attempt does not count.
    package func putBack(_ delivery: Delivery, until time: Date) async throws {
        try await database.write(.lane(delivery.lane)) { db, changes in
            try db.run(
                """
                UPDATE deliveries SET state = 'pending', attempts = attempts - 1, run_at = ?
                WHERE id = ? AND state = 'sending' AND attempts = ?
                """, [time.milliseconds, delivery.id, delivery.attempt])
            changes.append(.delivery(lane: delivery.lane))
        }
    }

    /// Swaps a claimed delivery with the transaction's next delivery: the next one becomes due, this one follows it.
    ///
    /// The attempt does not count. Without a next delivery this one is due again at `retry`.
    /// - Returns: whether there is a next delivery.
    package func letNextPass(_ delivery: Delivery, retry: Date, at now: Date) async throws -> Bool {
        guard case .event(_, let session, _, let webhook) = delivery.content else { return false }
        return try await database.write(.lane(delivery.lane), .subject(of: delivery)) { db, changes in
            let next = try db.row(
                """
                SELECT min(id) AS id FROM deliveries
                WHERE webhook = ? AND session = ? AND settled_at IS NULL AND id > ? AND state = 'pending'
                """, [webhook.id, session.rawValue, delivery.id])
            let id = next?["id"] as Int64?
            let isHeld =
                try db.changed(
                    """
                    UPDATE deliveries SET state = 'pending', attempts = attempts - 1, run_at = ?
                    WHERE id = ? AND state = 'sending' AND attempts = ?
                    """, [id == nil ? retry.milliseconds : nil, delivery.id, delivery.attempt]) > 0
            // Another process has it now.
            guard isHeld else { return false }
            if let id { try db.run("UPDATE deliveries SET run_at = ? WHERE id = ?", [now.milliseconds, id]) }
            changes.append(.delivery(lane: delivery.lane))
            return id != nil
        }
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

    /// Enqueues an invented event for every webhook that subscribes to it.
    /// - Parameters:
    ///   - name: the event's name in the API of a webhook, or the domain's.
    ///   - business: whose webhooks; nil for all.
    /// - Returns: ids of the deliveries.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for a name that no API has.
    package func enqueue(
        eventNamed name: String, of session: TransactionID, to business: BusinessID?, at now: Date
    ) async throws -> [Int64] {
        let known = vocabularies.names
        guard known.contains(name) || SessionEvent(rawValue: name) != nil else {
            throw ScribeError.invalidRequest(
                field: "event", problem: ScribeError.noSuch("event", name, among: known))
        }
        return try await database.write(.none) { [vocabularies] db, changes in
            let webhooks = try db.rows("SELECT * FROM webhooks WHERE removed_at IS NULL ORDER BY id")
                .map(Webhook.init(row:)).filter { business == nil || $0.business == business }
            var ids: [Int64] = []
            for webhook in webhooks {
                guard let vocabulary = vocabularies[webhook.style],
                    let event = SessionEvent.allCases.first(where: {
                        (vocabulary.name(of: $0) == name || $0.rawValue == name)
                            && vocabulary.announces($0, to: webhook)
                    })
                else { continue }
                ids.append(try Self.enqueue(event, of: session, to: webhook, at: now, in: db, &changes))
            }
            return ids
        }
    }

    /// Stores a callback: a message to an address that a request has named. A stored callback survives the end of the
    /// process. Callbacks of one request are delivered in order.
    /// - Throws: ``ScribeError/storageQuotaExceeded`` where ``callbackLimit`` of the request are not delivered yet.
    package func enqueue(_ callback: Callback, host: String, of business: BusinessID, at now: Date) async throws {
        let lane = "callback \(business.rawValue) \(host)"
        try await database.write(.lane(lane)) { db, changes in
            let time = now.milliseconds
            let waiting: Int? = try db.row(
                """
                SELECT count(*) AS number FROM deliveries WHERE webhook IS NULL AND session = ? AND settled_at IS NULL
                """, [callback.request])?["number"]
            guard waiting ?? 0 < Self.callbackLimit else { throw ScribeError.storageQuotaExceeded }
            try db.insert(into: "deliveries").values([
                "lane": lane, "business_id": business.rawValue, "session": callback.request,
                "address": callback.address, "method": callback.method,
                "headers": try StoredJSON.text(callback.headers), "body": callback.body, "occurred_at": time,
                "queued_at": time, "run_at": waiting ?? 0 == 0 ? time : nil,
            ])
            changes.append(.delivery(lane: lane))
        }
    }

    /// Most callbacks of one request that are not delivered.
    private static let callbackLimit = 1000

    /// Enqueues a test delivery with an invented event for a registration.
    /// - Returns: the delivery's id; nil if there is no such registration.
    /// - Throws: ``ScribeError/invalidState(_:)`` if the registration subscribes to no event of this server.
    package func enqueueTest(
        of webhook: Int64, session: TransactionID, at now: Date
    ) async throws -> Int64? {
        try await database.write(.lane("webhook \(webhook)")) { db, changes in
            guard let webhook = try Self.webhook(webhook, in: db) else { return nil }
            let event =
                ([.completed] + SessionEvent.allCases).first {
                    self.vocabularies.subscribes(webhook, to: $0)
                }
            guard let event else {
                throw ScribeError.invalidState("The webhook subscribes to no event of this server")
            }
            return try Self.enqueue(event, of: session, to: webhook, at: now, in: db, &changes)
        }
    }

    // MARK: Within a SQL transaction

    private static func isRegistered(_ delivery: Delivery, in db: any StoreSession) throws -> Bool {
        guard case .event(_, _, _, let webhook) = delivery.content else { return true }
        return try self.webhook(webhook.id, in: db) != nil
    }

    private static func wakeNext(after delivery: Delivery, at now: Date, in db: any StoreSession) throws {
        switch delivery.content {
        case .event(_, let session, _, let webhook):
            try db.run(
                """
                UPDATE deliveries SET run_at = ?1 WHERE id = (
                    SELECT min(id) FROM deliveries WHERE webhook = ?2 AND session = ?3 AND settled_at IS NULL)
                    AND state = 'pending' AND run_at IS NULL
                """,
                [now.milliseconds, webhook.id, session.rawValue])
        case .callback(let callback):
            try db.run(
                """
                UPDATE deliveries SET run_at = ?1 WHERE id = (
                    SELECT min(id) FROM deliveries WHERE webhook IS NULL AND session = ?2 AND settled_at IS NULL)
                    AND state = 'pending' AND run_at IS NULL
                """,
                [now.milliseconds, callback.request])
        }
    }

    private static func delivery(_ row: StoredRow, in db: any StoreSession) throws -> Delivery {
        let content: Delivery.Content
        var isWanted = true
        if let id = row["webhook"] as Int64?,
            let found = try db.row("SELECT * FROM webhooks WHERE id = ?", [id])
        {
            content = .event(
                try row.word("event"), of: TransactionID(row["session"]),
                try (row["detail"] as String?).map(StoredJSON.object), try Webhook(row: found))
            isWanted = (found["removed_at"] as Int64?) == nil
        } else {
            content = .callback(
                Callback(
                    address: row["address"], method: row["method"], request: row["session"],
                    headers: try StoredJSON.value(row["headers"]), body: row["body"]))
        }
        return Delivery(
            id: row["id"], lane: row["lane"], business: BusinessID(row["business_id"]), attempt: row["attempts"],
            occurredAt: Date(milliseconds: row["occurred_at"]),
            queuedAt: Date(milliseconds: row["queued_at"]), isWanted: isWanted, content: content)
    }
}
