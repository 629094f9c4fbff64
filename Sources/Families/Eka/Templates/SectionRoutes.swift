import Basics
import HTTPTypes
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v1/template/section`: lists and edits the sections of templates (eka.md 2.9).
struct SectionRoutes: Sendable {
    private static let parameter = "section_id"

    let runtime: Runtime

    static func add(to router: WorldRoutes<Self>) {
        router.group("voice/api/v1/template/section")
            .get(use: list)
            .post(use: create)
            .patch("{section_id}", use: update)
            .delete("{section_id}", use: archive)
    }

    /// The `action` of an answer. Editing a default section creates a custom copy (2.9).
    private enum Action: String {
        case created = "created_custom"
        case updated
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        try await context.hold(try await runtime.store.templates.templateListSize(of: business))
        let own = try await runtime.store.templates.sections(of: business)
        return try await .longJSON(.ok, ["items": .array(own + runtime.templates.sections) { $0.json }])
    }

    @Sendable private func create(_ request: Request, context: ScribeContext) async throws -> Response {
        let body: SectionBody = try await request.decodeJSON(in: context)
        guard let title = body.title else { throw ScribeError.invalidRequest(field: "title", problem: "is required") }
        let section = TemplateSection(
            id: SectionID(runtime.identifiers.uuid(.section)), title: title, summary: body.desc ?? "",
            style: body.format ?? .init(of: body.example ?? ""), example: body.example ?? "")
        try await runtime.store.templates.addSection(
            section, to: try context.requirePrincipal().business, at: runtime.clock.now)
        return answer(.created, "Section created successfully", section.id, .created)
    }

    @Sendable private func update(_ request: Request, context: ScribeContext) async throws -> Response {
        let business = try context.requirePrincipal().business
        let id = section(context)
        let body: SectionBody = try await request.decodeJSON(in: context)
        if let original = runtime.templates.sections.first(where: { $0.id == id }) {
            let fork = TemplateSection(
                id: SectionID(runtime.identifiers.uuid(.section)), title: body.title ?? original.title,
                summary: body.desc ?? original.summary, style: body.format ?? original.style,
                example: body.example ?? original.example, parent: original.id)
            try await runtime.store.templates.addSection(fork, to: business, at: runtime.clock.now)
            return answer(.ok, "Section created successfully", fork.id, .created)
        }
        try await runtime.store.templates.updateSection(id, of: business) { section in
            if let title = body.title { section.title = title }
            if let desc = body.desc { section.summary = desc }
            if let format = body.format { section.style = format }
            if let example = body.example { section.example = example }
        }
        return answer(.ok, "Section updated successfully", id, .updated)
    }

    @Sendable private func archive(_ request: Request, context: ScribeContext) async throws -> Response {
        let id = section(context)
        guard !runtime.templates.sections.contains(where: { $0.id == id }) else {
            throw ScribeError.invalidState("A default section cannot be deleted")
        }
        try await runtime.store.templates.archiveSection(
            id, of: try context.requirePrincipal().business, at: runtime.clock.now)
        return answer(.ok, "Section archived successfully", id, .updated)
    }

    private func answer(
        _ status: HTTPResponse.Status, _ message: JSON, _ id: SectionID, _ action: Action
    ) -> Response {
        .json(status, ["msg": message, "section_id": .string(id.rawValue), "action": .string(action.rawValue)])
    }

    private func section(_ context: ScribeContext) -> SectionID {
        SectionID(context.text(of: Self.parameter) ?? "")
    }
}
