import Basics
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Adds the content of a seed to a world: clients, clinicians, templates and finished transactions.
struct Seeding: Sendable {
    let world: World
    /// The specialty of a clinician of a partner.
    let specialty: ControlFamily.Settings.Specialty

    /// Longest wait for the results of all transactions.
    private static let longestWait: Duration = .seconds(20)

    /// Rows and transactions of a seed whose references are checked.
    struct Plan: Sendable {
        var rows: SeedRows
        let consultations: [SeededTransaction]
    }

    /// Checks a seed against the world. Nothing is stored.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an entry of an unknown client or template,
    ///   `SeedProblem`.
    func plan(_ body: SeedBody) async throws -> Plan {
        let clients = try await principals(of: body)
        let consultations = try await consultations(of: body, clients)
        return Plan(rows: try await rows(of: body, clients), consultations: consultations)
    }

    /// Stores all of a seed, or nothing.
    /// - Throws: `SeedProblem`, the errors of a new transaction and of the storage.
    func store(_ plan: Plan) async throws {
        try await world.runtime.add(plan.rows, plan.consultations[...])
        guard !plan.rows.clients.isEmpty else { return }
        world.authenticator.clients.replaceSeeded(with: try await world.runtime.store.transactions.seededClients())
    }

    /// Waits for the results of the transactions.
    /// - Returns: The processing status of each.
    func finish(_ plan: Plan, until disconnect: OneShotSignal) async throws -> [Transaction.ProcessingStatus] {
        try await world.runtime.finish(plan.consultations, atMost: Self.longestWait, until: disconnect)
    }

    /// The clients of the body, and those that are registered, by id.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an entry of an unknown client.
    private func principals(of body: SeedBody) async throws -> [ClientID: Principal] {
        let known = world.authenticator.clients
        var principals: [ClientID: Principal] = [:]
        for seeded in body.clients { principals[seeded.client.principal.client] = seeded.client.principal }
        let others = body.templates.map { ($0.client, $0.fields) } + body.consultations.map { ($0.client, $0.fields) }
        for (client, fields) in others where principals[client] == nil {
            guard let principal = known[client]?.principal else {
                throw fields.problem("client_id", "is no client of this namespace and of this body")
            }
            principals[client] = principal
        }
        for key in body.clients.flatMap(\.keys) {
            guard let owner = known.principal(ofKey: key)?.client, principals[owner] == nil else { continue }
            throw SeedProblem.keyOfOtherClient(owner)
        }
        return principals
    }

    private func rows(of body: SeedBody, _ clients: [ClientID: Principal]) async throws -> SeedRows {
        let identifiers = world.runtime.identifiers
        var rows = SeedRows()
        rows.clients = body.clients.map { seeded in
            SeedRows.SeededClient(
                client: seeded.client,
                secretHash: world.secrets.hash(of: seeded.secret, of: seeded.client.principal.client),
                keyHashes: seeded.keys.map(KnownClients.hash(of:)))
        }
        for user in body.users {
            let specialty: String
            do {
                specialty = try self.specialty(user.partner, user.specialty, world)
            } catch ScribeError.invalidRequest(let field, let problem) {
                throw user.fields.problem(field ?? "partner_id", problem)
            }
            rows.providers.append(
                Provider(
                    partner: user.partner, subject: user.subject, user: UserID("prv_\(identifiers.uuid(.user))"),
                    organisation: user.organisation, specialty: specialty))
        }
        for template in body.templates {
            guard let business = clients[template.client]?.business else { continue }
            try await requireSections(of: template, business)
            rows.sections += template.sections.map { ($0, business) }
            let id = TemplateID(template.id ?? identifiers.uuid(.template))
            rows.templates.append(
                (
                    CustomTemplate(
                        id: id, title: template.title, summary: template.summary, sectionIDs: template.sectionIDs),
                    business
                ))
        }
        return rows
    }

    private func requireSections(of template: SeedBody.OwnTemplate, _ business: BusinessID) async throws {
        let runtime = world.runtime
        let own = try await runtime.store.templates.sections(of: business).map(\.id) + template.sections.map(\.id)
        let known = Set(runtime.templates.sections.map(\.id) + own)
        guard template.sectionIDs.allSatisfy(known.contains) else {
            throw template.fields.problem("section_ids", "must name sections of this namespace")
        }
    }

    private func consultations(
        of body: SeedBody, _ clients: [ClientID: Principal]
    ) async throws -> [SeededTransaction] {
        let runtime = world.runtime
        var consultations: [SeededTransaction] = []
        for entry in body.consultations {
            guard let principal = clients[entry.client] else { continue }
            let own = Set(
                try await runtime.store.templates.all(of: principal.business).map(\.id)
                    + body.templates.compactMap { $0.id.map { TemplateID($0) } })
            for id in entry.templates where runtime.templates[id] == nil && !own.contains(id) {
                throw entry.fields.problem("template_ids", "must name templates of this namespace")
            }
            consultations.append(
                SeededTransaction(
                    id: TransactionID(entry.id ?? "seed-\(runtime.identifiers.uuid(.transaction))"),
                    principal: principal,
                    transcript: entry.transcript,
                    templates: entry.templates.isEmpty ? [runtime.templates.fallback.id] : entry.templates,
                    patient: entry.patient))
        }
        return consultations
    }
}
