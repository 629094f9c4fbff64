import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `GET /voice/v1/templates`: what a session can be asked for (medscribe.md 2.11).
struct TemplateRoutes: Sendable {
    let sessions: Sessions

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("voice/v1/templates", use: list)
    }

    private struct Item: Encodable {
        let id: TemplateID
        let name: String
        let description: String
    }

    private struct List: Encodable {
        let templates: [Item]
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let found = try await sessions.templates(of: context.requirePrincipal().business)
        return try await .longJSON(
            .ok, List(templates: found.map { Item(id: $0.id, name: $0.name, description: $0.description) }))
    }
}
