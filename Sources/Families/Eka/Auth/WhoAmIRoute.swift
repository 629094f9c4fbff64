import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `GET /connect-auth/v1/account/whoami`: describes the owner of the token (eka.md 2.13).
struct WhoAmIRoute: Sendable {
    let store: Store

    static func add(to router: WorldRoutes<Self>) {
        router.get("connect-auth/v1/account/whoami", use: answer)
    }

    @Sendable private func answer(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let client = try await store.accounts.client(principal.client)?.client
        return .json(
            .ok,
            [
                "uuid": .string(principal.user.rawValue), "primary_oid": .string(principal.doctor.rawValue),
                "oid": [.string(principal.doctor.rawValue)], "workspace_id": .string(principal.business.rawValue),
                "is-paid": true, "username": .string(client?.name ?? principal.client.rawValue),
                "identity": .string(principal.client.rawValue), "idp_id": "api-key",
            ])
    }
}
