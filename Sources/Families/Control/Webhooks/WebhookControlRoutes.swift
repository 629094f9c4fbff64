import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/__admin/webhooks`: adds, lists, pauses, removes and tests registrations of all businesses.
struct WebhookControlRoutes: Sendable {
    let webhooks: Webhooks
    let store: Store

    static func add(to router: WorldRoutes<Self>) {
        router.get("webhooks", use: list)
        router.post("webhooks", use: register)
        router.patch("webhooks/{webhook_id}", use: pause)
        router.delete("webhooks/{webhook_id}", use: remove)
        router.post("webhooks/trigger", use: trigger)
        router.post("webhooks/{webhook_id}/test", use: test)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let all = try await store.webhooks.all(of: nil)
        return try await .longJSON(.ok, ["webhooks": .array(all, \.json)])
    }

    /// Registers a webhook of a client, as the client would by the API of the style.
    @Sendable private func register(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["client", "style", "endpoint", "events", "secret"], context: context)
        let style = try body.required("style")
        guard webhooks.styles.contains(style) else { throw body.unknown("style", style, among: webhooks.styles) }
        let client = ClientID(try body.required("client"))
        guard let principal = context.world.authenticator.clients[client]?.principal else {
            throw body.problem("client", "is no client of this namespace")
        }
        let events = try body.texts("events", atMost: Limits.webhookEvents)
        let known = webhooks.eventNames(of: Webhook.Style(style))
        for event in events where !known.contains(event) {
            throw body.problem("events", ScribeError.noSuch("event", event, among: known))
        }
        let draft = WebhookDraft(
            style: Webhook.Style(style),
            endpoint: Webhook.Endpoint(try body.required("endpoint", upTo: Limits.location)),
            events: events, signingKey: try body.text("secret", upTo: Limits.signingKey))
        let registration = try await webhooks.register(
            draft, for: principal, called: (endpoint: "endpoint", events: "events", key: "secret"))
        switch registration {
        case .registered(let webhook): return .json(.created, webhook.json)
        case .duplicate: throw ScribeError.invalidState("The business has registered this endpoint before")
        case .tooMany: throw ScribeError.invalidState("The business has \(Limits.webhooks) webhooks already")
        }
    }

    @Sendable private func pause(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try await request.fields(["is_paused"], context: context)
        guard case .bool(let isPaused)? = body["is_paused"] else {
            throw body.problem("is_paused", "must be true or false")
        }
        let text = try context.parameters.require("webhook_id")
        guard let id = Int64(text), let webhook = try await store.webhooks.setPaused(isPaused, ofWebhook: id) else {
            throw ControlError.notFound(DeliveryControlRoutes.quoted("webhook", text))
        }
        return .json(.ok, webhook.json)
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let text = try context.parameters.require("webhook_id")
        guard let id = Int64(text), try await webhooks.remove(id) else {
            throw ControlError.notFound(DeliveryControlRoutes.quoted("webhook", text))
        }
        return Response(status: .noContent)
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
            "signed": .bool(signingKey != nil), "paused": .bool(isPaused), "attempts": .integer(pauses.count + 1),
            "created_at": .string(createdAt.apiTime),
        ]
    }
}
