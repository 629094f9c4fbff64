import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/notification/v1/connect/webhook/subscriptions`: whom a business's events are told to (eka-v2.md section 7).
struct SubscriptionRoutes: Sendable {
    let webhooks: Webhooks

    static let path = "notification/v1/connect/webhook/subscriptions"

    func add(to router: RouterGroup<ScribeContext>) {
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

    private struct Acknowledgement: Encodable {
        let id: String
        let status = "success"
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
        case .registered(let webhook): return try .json(.created, Acknowledgement(id: String(webhook.id)))
        case .duplicate: throw ConnectError.alreadyRegistered
        case .tooMany: throw ConnectError.tooMany
        }
    }

    private struct Item: Encodable {
        let id: String
        let events: [String]
        let endpoint: String
        let key: String?
        let client: String
        let scheme: String
        let createdAt: String
        let updatedAt: String
        let createdBy: String
        let updatedBy: String

        private enum CodingKeys: String, CodingKey {
            case id, endpoint
            case events = "event_names"
            case key = "signing_key"
            case client = "client_id"
            case scheme = "protocol"
            case createdAt = "created_at"
            case updatedAt = "updated_at"
            case createdBy = "created_by"
            case updatedBy = "updated_by"
        }

        init(_ webhook: Webhook) {
            id = String(webhook.id)
            events = webhook.events
            endpoint = webhook.endpoint.text
            key = webhook.signingKey
            client = webhook.client.rawValue
            scheme = webhook.scheme
            createdAt = webhook.createdAt.apiTime
            updatedAt = webhook.createdAt.apiTime
            createdBy = webhook.user.rawValue
            updatedBy = webhook.user.rawValue
        }

        func encode(to encoder: any Encoder) throws {
            var item = encoder.container(keyedBy: CodingKeys.self)
            try item.encode(id, forKey: .id)
            try item.encode(events, forKey: .events)
            try item.encode(endpoint, forKey: .endpoint)
            // Null where there is none.
            try item.encode(key, forKey: .key)
            try item.encode(client, forKey: .client)
            try item.encode(scheme, forKey: .scheme)
            try item.encode(createdAt, forKey: .createdAt)
            try item.encode(updatedAt, forKey: .updatedAt)
            try item.encode(createdBy, forKey: .createdBy)
            try item.encode(updatedBy, forKey: .updatedBy)
        }
    }

    private struct List: Encodable {
        let data: [Item]
        let msg = "success"
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let found = try await webhooks.list(.connect, of: context.requirePrincipal().business)
        return try await .longJSON(.ok, List(data: found.map(Item.init)))
    }

    private struct Removal: Encodable {
        let status = "webhook deleted successfully"
        let msg = "success"
    }

    @Sendable private func unsubscribe(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let id = Int64(try context.parameters.require("subscription_id")) else {
            throw ScribeError.invalidRequest(field: "subscription_id", problem: "must be a number")
        }
        guard try await webhooks.remove(id, .connect, of: business) else { throw ConnectError.unknownWebhook }
        return try .json(.ok, Removal())
    }
}
