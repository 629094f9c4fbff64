import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/v1/webhooks`: registers, lists and removes a business's webhooks (medscribe.md section 6).
struct WebhookRoutes: Sendable {
    let webhooks: Webhooks
    let store: Store

    static func add(to router: WorldRoutes<Self>) {
        router.post("voice/v1/webhooks", use: register)
        router.get("voice/v1/webhooks", use: list)
        router.delete("voice/v1/webhooks/{webhook_id}", use: remove)
    }

    private struct Registration: Decodable {
        let url: String
        let events: [String]
        let secret: String?
    }

    @Sendable private func register(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body = try await request.decodeJSON(as: Registration.self, in: context)
        let known = SessionEvent.allCases.compactMap(AllianceWebhookFormat().name)
        guard !body.events.isEmpty, body.events.allSatisfy(known.contains) else {
            throw ScribeError.invalidRequest(
                field: "events", problem: "must be some of \(known.joined(separator: ", "))")
        }
        let draft = WebhookDraft(
            style: .alliance, endpoint: Webhook.Endpoint(body.url), events: body.events, signingKey: body.secret)
        let registration = try await webhooks.register(
            draft, for: principal, called: (endpoint: "url", events: "events", key: "secret"))
        switch registration {
        case .registered(let webhook): return .json(.created, webhook.json)
        case .duplicate, .tooMany: throw AllianceError.tooManyWebhooks
        }
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let found = try await store.webhooks.all(.alliance, of: context.requirePrincipal().business)
        return try await .longJSON(.ok, ["webhooks": .array(found, \.json)])
    }

    @Sendable private func remove(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        guard let id = Int64(try context.parameters.require("webhook_id")),
            try await webhooks.remove(id, .alliance, of: business)
        else { throw AllianceError.webhookNotFound }
        return Response(status: .noContent)
    }
}

extension Webhook {
    fileprivate var json: JSON {
        [
            "webhook_id": .string(String(id)), "url": .string(endpoint.text), "events": .array(events, JSON.string),
            "status": "active", "created_at": .string(createdAt.apiTime),
        ]
    }
}
