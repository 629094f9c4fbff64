import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/__admin/webhooks`: everybody's registrations.
struct WebhookControlRoutes: Sendable {
    let webhooks: Webhooks

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("webhooks", use: list)
        router.post("webhooks/{webhook_id}/test", use: test)
    }

    private struct Item: Encodable {
        let id: String
        let style: String
        let business: String
        let client: String
        let endpoint: String
        let events: [String]
        let isSigned: Bool
        let attempts: Int
        let createdAt: String

        enum CodingKeys: String, CodingKey {
            case style, endpoint, events, attempts
            case id = "webhook_id"
            case business = "business_id"
            case client = "client_id"
            case isSigned = "signed"
            case createdAt = "created_at"
        }

        init(_ webhook: Webhook) {
            id = String(webhook.id)
            style = webhook.style.rawValue
            business = webhook.business.rawValue
            client = webhook.client.rawValue
            endpoint = webhook.endpoint.text
            events = webhook.events
            isSigned = webhook.signingKey != nil
            attempts = webhook.pauses.count + 1
            createdAt = webhook.createdAt.apiTime
        }
    }

    private struct List: Encodable {
        let webhooks: [Item]
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        try await .longJSON(.ok, List(webhooks: try await webhooks.all().map(Item.init)))
    }

    /// Goes the way of any other event.
    @Sendable private func test(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let id = Int64(try context.parameters.require("webhook_id")), let made = try await webhooks.test(id)
        else {
            throw ControlError.notFound
        }
        return try .json(.accepted, DeliveryBody(made, nil))
    }
}
