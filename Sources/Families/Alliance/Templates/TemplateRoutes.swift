import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /voice/v1/templates`: lists the templates that a protocol session can ask for (medscribe.md 2.11).
struct TemplateRoutes: Sendable {
    let sessions: ProtocolSessions

    static func add(to router: WorldRoutes<Self>) {
        router.get("voice/v1/templates", use: list)
    }

    @Sendable private func list(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        try await context.hold(try await context.world.runtime.store.templates.templateListSize(of: business))
        let found = try await sessions.templates(of: business)
        return try await .longJSON(
            .ok,
            [
                "templates": .array(found) {
                    ["id": .string($0.id.rawValue), "name": .string($0.name), "description": .string($0.description)]
                }
            ])
    }
}
