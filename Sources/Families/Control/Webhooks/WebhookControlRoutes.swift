import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/webhooks`: lists and tests the registrations of all businesses.
struct WebhookControlRoutes: Sendable {
    let webhooks: Webhooks
    let store: Store

    static func add(to router: WorldRoutes<Self>) {
        router.get("webhooks", use: list)
        router.post("webhooks/trigger", use: trigger)
        router.post("webhooks/{webhook_id}/test", use: test)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let all = try await store.webhooks(of: nil)
        return try await .longJSON(.ok, ["webhooks": .array(all, \.json)])
    }

    /// Sends an event to all registrations that subscribe to it.
    @Sendable private func trigger(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["event", "transaction", "business"], context: context)
        let made = try await webhooks.trigger(
            try body.required("event"), of: try body.text("transaction").map { TransactionID($0) },
            to: try body.text("business").map { BusinessID($0) })
        return .json(.accepted, ["delivery_ids": .array(made) { .string(String($0)) }])
    }

    /// Sends a test event, by the same path as any other event.
    @Sendable private func test(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let text = try context.parameters.require("webhook_id")
        guard let id = Int64(text), let made = try await webhooks.test(id) else {
            throw ControlError.notFound(DeliveryControlRoutes.quoted("webhook", text))
        }
        return .json(.accepted, made.json(nil))
    }
}

extension Webhook {
    /// Encodes a registration without its signing key.
    fileprivate var json: JSON {
        [
            "webhook_id": .string(String(id)), "style": .string(style.rawValue),
            "business_id": .string(business.rawValue), "client_id": .string(client.rawValue),
            "endpoint": .string(endpoint.text), "events": .array(events, JSON.string),
            "signed": .bool(signingKey != nil), "attempts": .integer(pauses.count + 1),
            "created_at": .string(createdAt.apiTime),
        ]
    }
}
