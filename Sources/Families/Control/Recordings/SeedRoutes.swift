import Basics
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `POST /__admin/seed`: adds clients, clinicians, templates and finished transactions to a running server.
struct SeedRoutes: Sendable {
    let world: World
    /// The specialty of a clinician of a partner.
    let specialty: ControlFamily.Settings.Specialty
    /// Secrets and API keys that a client may not have.
    let refusedSecrets: Set<String>

    static func add(to router: WorldRoutes<Self>) { router.post("seed", use: seed) }

    @Sendable private func seed(_ request: Request, _ context: ScribeContext) async throws -> Response {
        let body = try SeedBody(
            try await request.fields(SeedBody.members, context: context), refusing: refusedSecrets)
        let seeding = Seeding(world: world, specialty: specialty)
        let plan = try await seeding.plan(body)
        try await seeding.store(plan)
        let statuses = try await seeding.finish(plan, until: context.clientDisconnect())
        let finished = zip(plan.consultations, statuses).map { consultation, status -> JSON in
            [
                "client_id": .string(consultation.principal.client.rawValue),
                "txn_id": .string(consultation.id.rawValue),
                "status": .string(status.rawValue),
            ]
        }
        return .json(
            .ok,
            [
                "clients": .array(body.clients) { .string($0.client.principal.client.rawValue) },
                "users": .array(body.users) { .string($0.subject) },
                "templates": .array(plan.rows.templates) { .string($0.template.id.rawValue) },
                "consultations": .array(finished),
            ])
    }
}
