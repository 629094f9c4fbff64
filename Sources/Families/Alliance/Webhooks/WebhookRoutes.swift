import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/v1/webhooks`: whom a business's sessions are told of to (medscribe.md section 6).
struct WebhookRoutes: Sendable {
    let webhooks: Webhooks

    func add(to router: RouterGroup<ScribeContext>) {
        router.post("voice/v1/webhooks", use: register)
        router.get("voice/v1/webhooks", use: list)
        router.delete("voice/v1/webhooks/{webhook_id}", use: remove)
    }

    private struct Registration: Decodable {
        let url: String
        let events: [String]
        let secret: String?
    }

    private struct Item: Encodable {
        let id: String
        let url: String
        let events: [String]
        let status = "active"
        let createdAt: String

        enum CodingKeys: String, CodingKey {
            case url, events, status
            case id = "webhook_id"
            case createdAt = "created_at"
        }

        init(_ webhook: Webhook) {
            id = String(webhook.id)
            url = webhook.endpoint.text
            events = webhook.events
            createdAt = webhook.createdAt.apiTime
        }
    }

    private struct List: Encodable {
        let webhooks: [Item]
    }

    @Sendable private func register(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body = try await request.decodeJSON(as: Registration.self, in: context)
        let known = SessionEvent.allCases.compactMap(Webhook.Style.alliance.name)
        guard !body.events.isEmpty, body.events.allSatisfy(known.contains) else {
            throw ScribeError.invalidRequest(
                field: "events", problem: "must be some of \(known.joined(separator: ", "))")
        }
        let draft = WebhookDraft(
            style: .alliance, endpoint: Webhook.Endpoint(body.url), events: body.events, signingKey: body.secret)
        let registration = try await webhooks.register(
            draft, for: principal, called: (endpoint: "url", events: "events", key: "secret"))
        switch registration {
        case .registered(let webhook): return try .json(.created, Item(webhook))
        case .duplicate, .tooMany: throw AllianceError.tooManyWebhooks
        }
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let found = try await webhooks.list(.alliance, of: context.requirePrincipal().business)
        return try await .longJSON(.ok, List(webhooks: found.map(Item.init)))
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let id = Int64(try context.parameters.require("webhook_id")),
            try await webhooks.remove(id, .alliance, of: business)
        else { throw AllianceError.webhookNotFound }
        return Response(status: .noContent)
    }
}
