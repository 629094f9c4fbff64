import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/notification/v1/connect/webhook/subscriptions`: subscribes webhooks to a business's events (eka-v2.md section 7).
struct SubscriptionRoutes: Sendable {
    let webhooks: Webhooks
    let store: Store

    static let path = "notification/v1/connect/webhook/subscriptions"

    static func add(to router: WorldRoutes<Self>) {
        router.post("\(Self.path)", use: subscribe)
        router.get("\(Self.path)", use: list)
        router.delete("\(Self.path)/{subscription_id}", use: unsubscribe)
    }

    private struct Subscription: Decodable {
        let endpoint: String
        let events: [String]?
        let key: String?
        let scheme: String?

        enum CodingKeys: String, CodingKey {
            case endpoint
            case events = "event_names"
            case key = "signing_key"
            case scheme = "protocol"
        }
    }

    @Sendable private func subscribe(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body = try await request.decodeJSON(as: Subscription.self, in: context)
        if let scheme = body.scheme, !["http", "https"].contains(scheme) {
            throw ScribeError.invalidRequest(field: "protocol", problem: "must be https or http")
        }
        if body.events?.isEmpty == true {
            throw ScribeError.invalidRequest(
                field: "event_names", problem: "must name an event, or be left out for all")
        }
        let draft = WebhookDraft(
            style: .connect, endpoint: Webhook.Endpoint(body.endpoint), events: body.events ?? [],
            signingKey: body.key, scheme: body.scheme)
        let registration = try await webhooks.register(
            draft, for: principal, called: (endpoint: "endpoint", events: "event_names", key: "signing_key"))
        switch registration {
        case .registered(let webhook): return .json(.created, ["id": "\(webhook.id)", "status": "success"] as JSON)
        case .duplicate: throw ConnectError.alreadyRegistered
        case .tooMany: throw ConnectError.tooMany
        }
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let found = try await store.webhooks.all(.connect, of: context.requirePrincipal().business)
        return try await .longJSON(.ok, ["data": .array(found) { $0.json }, "msg": "success"])
    }

    @Sendable private func unsubscribe(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let id = Int64(try context.parameters.require("subscription_id")) else {
            throw ScribeError.invalidRequest(field: "subscription_id", problem: "must be a number")
        }
        guard try await webhooks.remove(id, .connect, of: business) else { throw ConnectError.unknownWebhook }
        return .json(.ok, ["status": "webhook deleted successfully", "msg": "success"] as JSON)
    }
}

extension Webhook {
    fileprivate var json: JSON {
        [
            "id": "\(id)", "event_names": .array(events, JSON.string), "endpoint": .string(endpoint.text),
            // Null without a key, rather than left out.
            "signing_key": signingKey.map(JSON.string).orNull, "client_id": .string(client.rawValue),
            "protocol": .string(scheme), "created_at": .string(createdAt.apiTime),
            "updated_at": .string(createdAt.apiTime), "created_by": .string(user.rawValue),
            "updated_by": .string(user.rawValue),
        ]
    }
}
