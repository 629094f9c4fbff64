import Basics
package import Foundation
package import ScribeDomain

/// Requested webhook registration, before the server has stored it.
package struct WebhookDraft: Hashable, Sendable {
    package let style: Webhook.Style
    package let endpoint: Webhook.Endpoint
    package let events: [String]
    package let signingKey: String?
    package let scheme: String

    /// Makes a request for a webhook registration.
    /// - Parameters:
    ///   - events: Names in the style; repeated names count once.
    ///   - scheme: The scheme the client sends beside the address; nil takes the endpoint's scheme.
    package init(
        style: Webhook.Style, endpoint: Webhook.Endpoint, events: [String] = [], signingKey: String?,
        scheme: String? = nil
    ) {
        self.style = style
        self.endpoint = endpoint
        self.events = events.removingDuplicates()
        self.signingKey = signingKey
        self.scheme = scheme ?? endpoint.scheme
    }
}

/// Result of registering a webhook.
package enum Registration: Hashable, Sendable {
    case registered(Webhook)
    /// The business has registered the endpoint before.
    case duplicate
    /// The business has ``Limits/webhooks`` registrations already.
    case tooMany
}

extension WebhookStore {
    /// Registers a webhook.
    /// - Parameter pauses: pauses between attempts.
    package func register(
        _ draft: WebhookDraft, for principal: Principal, pauses: [Duration], at now: Date
    ) async throws -> Registration {
        try await changingWebhooks {
            try await database.write(.business(principal.business)) { db in
                let there = try Self.all(of: principal.business, in: db)
                let isUnique = self.vocabularies[draft.style]?.requiresUniqueEndpoint ?? false
                if isUnique, there.contains(where: { $0.style == draft.style && $0.endpoint == draft.endpoint }) {
                    return .duplicate
                }
                guard there.count < Limits.webhooks else { return .tooMany }
                try db.insert(into: "webhooks").values([
                    "style": draft.style.rawValue, "business_id": principal.business.rawValue,
                    "client_id": principal.client.rawValue, "user_id": principal.user.rawValue,
                    "endpoint": draft.endpoint.text, "events": try StoredJSON.text(draft.events),
                    "signing_key": draft.signingKey, "scheme": draft.scheme,
                    "pauses": try StoredJSON.text(pauses.map { Int(saturating: ($0 / .milliseconds(1)).rounded()) }),
                    "created_at": now.milliseconds, "is_unique": isUnique,
                ])
                guard let webhook = try Self.webhook(db.insertedID(), in: db) else { return .tooMany }
                return .registered(webhook)
            }
        }
    }

    /// Webhook registrations, oldest first.
    /// - Parameter business: nil for all businesses.
    package func all(of business: BusinessID?) async throws -> [Webhook] {
        try await read { db in
            if let business { return try Self.all(of: business, in: db) }
            return try db.rows("SELECT * FROM webhooks WHERE removed_at IS NULL ORDER BY id").map(Webhook.init(row:))
        }
    }

    /// Pauses a registration, which then gets no further events, or lets it go on. Its pending deliveries stay.
    /// - Returns: nil if there is no such registration.
    package func setPaused(_ isPaused: Bool, ofWebhook id: Int64) async throws -> Webhook? {
        try await changingWebhooks {
            try await database.write(.lane("webhook \(id)")) { db in
                try db.row(
                    "UPDATE webhooks SET is_paused = ? WHERE id = ? AND removed_at IS NULL RETURNING *", [isPaused, id]
                ).map(Webhook.init(row:))
            }
        }
    }

    /// A registration; nil if there is none.
    package func webhook(_ id: Int64) async throws -> Webhook? {
        try await read { db in try Self.webhook(id, in: db) }
    }

    /// Removes a registration. Its pending deliveries fail.
    /// - Returns: false if the business has no such registration.
    package func removeWebhook(
        _ id: Int64, style: Webhook.Style, of business: BusinessID, at now: Date
    ) async throws -> Bool {
        let isRemoved = try await changingWebhooks {
            try await database.write(.business(business)) { db in
                let removed = try db.row(
                    """
                    UPDATE webhooks SET removed_at = ?, signing_key = NULL
                    WHERE id = ? AND style = ? AND business_id = ? AND removed_at IS NULL
                    RETURNING id
                    """,
                    [now.milliseconds, id, style.rawValue, business.rawValue])
                return removed != nil
            }
        }
        guard isRemoved else { return false }
        // In batches: there may be many deliveries, and other writes wait meanwhile.
        while true {
            let failed = try await database.write(.lane("webhook \(id)")) { db in
                try db.rows(
                    """
                    UPDATE deliveries SET state = 'failed', problem = ?, run_at = NULL, settled_at = ? WHERE id IN (
                        SELECT id FROM deliveries WHERE webhook = ? AND state = 'pending' AND settled_at IS NULL
                        LIMIT 500)
                    RETURNING id
                    """,
                    [Self.removed, now.milliseconds, id]
                ).count
            }
            if failed == 0 { return true }
        }
    }

    /// Replaces the registrations of a style that clients do not register. Unchanged registrations stay with their
    /// pending deliveries, and the others are removed.
    package func configure(
        _ style: Webhook.Style, _ wanted: [(draft: WebhookDraft, principal: Principal, pauses: [Duration])],
        at now: Date
    ) async throws {
        let known = try await all(of: nil).filter { $0.style == style }
        var kept: Set<Int64> = []
        for (draft, principal, pauses) in wanted {
            let same = known.first { webhook in
                webhook.business == principal.business && webhook.client == principal.client
                    && webhook.endpoint == draft.endpoint && webhook.signingKey == draft.signingKey
                    && webhook.pauses == pauses && !kept.contains(webhook.id)
            }
            if let same {
                kept.insert(same.id)
            } else if case .registered(let webhook) = try await register(draft, for: principal, pauses: pauses, at: now)
            {
                kept.insert(webhook.id)
            }
        }
        for webhook in known where !kept.contains(webhook.id) {
            _ = try await removeWebhook(webhook.id, style: style, of: webhook.business, at: now)
        }
    }

    // MARK: Within a SQL transaction

    /// Reason for the failure of deliveries to a removed registration.
    static let removed = "the registration was removed"

    static func all(of business: BusinessID, in db: any StoreSession) throws -> [Webhook] {
        try db.rows(
            "SELECT * FROM webhooks WHERE business_id = ? AND removed_at IS NULL ORDER BY id", [business.rawValue]
        ).map(Webhook.init(row:))
    }

    static func webhook(_ id: Int64, in db: any StoreSession) throws -> Webhook? {
        try db.row("SELECT * FROM webhooks WHERE id = ? AND removed_at IS NULL", [id]).map(Webhook.init(row:))
    }
}

extension Webhook {
    init(row: StoredRow) throws {
        let pauses: [Int] = try StoredJSON.value(row["pauses"])
        self.init(
            id: row["id"], style: Webhook.Style(row["style"]), business: BusinessID(row["business_id"]),
            client: ClientID(row["client_id"]), user: UserID(row["user_id"]), endpoint: Endpoint(row["endpoint"]),
            events: try StoredJSON.value(row["events"]), signingKey: row["signing_key"], scheme: row["scheme"],
            pauses: pauses.map { .milliseconds($0) }, createdAt: Date(milliseconds: row["created_at"]),
            isPaused: row["is_paused"])
    }
}
