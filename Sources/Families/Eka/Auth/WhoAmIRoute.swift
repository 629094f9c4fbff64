import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeStore

/// `GET /connect-auth/v1/account/whoami`: whose token it is (eka.md 2.13).
struct WhoAmIRoute: Sendable {
    let store: Store

    func add(to router: RouterGroup<ScribeContext>) {
        router.get("connect-auth/v1/account/whoami", use: answer)
    }

    private struct Body: Encodable {
        let uuid: UserID
        let doctor: DoctorID
        let doctors: [DoctorID]
        let workspace: BusinessID
        let isPaid = true
        let username: String
        let identity: String
        let idp = "api-key"

        enum CodingKeys: String, CodingKey {
            case uuid, username, identity
            case idp = "idp_id"
            case doctor = "primary_oid"
            case doctors = "oid"
            case workspace = "workspace_id"
            case isPaid = "is-paid"
        }
    }

    @Sendable private func answer(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let client = try await store.client(principal.client)?.client
        return try .json(
            .ok,
            Body(
                uuid: principal.user, doctor: principal.doctor, doctors: [principal.doctor],
                workspace: principal.business, username: client?.name ?? principal.client.rawValue,
                identity: principal.client.rawValue))
    }
}
