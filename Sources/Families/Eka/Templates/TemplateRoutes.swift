import Basics
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// `/voice/api/v1/template`: lists and edits templates (eka.md 2.9). Templates belong to a business, favourites to a
/// user.
struct TemplateRoutes: Sendable {
    private static let parameter = "template_id"

    let runtime: Runtime
    let profiles: ClientProfiles

    static func add(to router: WorldRoutes<Self>) {
        router.group("voice/api/v1/template")
            .get(use: list)
            .post(use: create)
            // Older iOS SDKs send PUT, the web client PATCH (C-89).
            .put("{template_id}", use: update)
            .patch("{template_id}", use: update)
            .delete("{template_id}", use: archive)
    }

    @Sendable private func list(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        try await context.hold(try await runtime.store.templates.templateListSize(of: principal.business))
        let own = try await runtime.store.templates.all(of: principal.business)
        let preferences = try await runtime.store.accounts.preferences(of: principal.user, in: principal.business)
        let favourites = Favourites(preferences, catalogue: runtime.templates, own: own)
        return try await .longJSON(.ok, TemplateItem.list(favourites.allItems))
    }

    @Sendable private func create(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let body: TemplateBody = try await request.decodeJSON(in: context)
        guard let title = body.title else { throw ScribeError.invalidRequest(field: "title", problem: "is required") }
        guard let sectionIDs = body.sectionIDs else {
            throw ScribeError.invalidRequest(field: "section_ids", problem: "is required")
        }
        try await requireKnown(sectionIDs, of: principal.business)
        let template = CustomTemplate(
            id: TemplateID(runtime.identifiers.uuid(.template)), title: title, summary: body.desc,
            sectionIDs: sectionIDs)
        try await runtime.store.templates.addTemplate(template, to: principal.business, at: runtime.clock.now)
        return .json(
            .created, ["msg": "Template created successfully", "template_id": .string(template.id.rawValue)])
    }

    @Sendable private func update(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let id = try requireOwn(context)
        let body: TemplateBody = try await request.decodeJSON(in: context)
        if let sectionIDs = body.sectionIDs {
            // A section deleted meanwhile is still in the list, and must not block saving the template.
            let present = try await runtime.store.templates.template(id, of: principal.business)?.sectionIDs ?? []
            try await requireKnown(sectionIDs, or: present, of: principal.business)
        }
        try await runtime.store.templates.updateTemplate(id, of: principal.business) { template in
            if let title = body.title { template.title = title }
            if let desc = body.desc { template.summary = desc }
            if let sectionIDs = body.sectionIDs { template.sectionIDs = sectionIDs }
        }
        return .json(.ok, ["msg": "Template updated successfully", "template_id": .string(id.rawValue)])
    }

    @Sendable private func archive(_ request: Request, context: ScribeContext) async throws -> Response {
        let principal = try context.requirePrincipal()
        let id = try requireOwn(context)
        try await runtime.store.templates.archiveTemplate(id, of: principal.business, at: runtime.clock.now)
        let message: JSON = "Template archived successfully"
        let isBare = profiles.profile(of: request, context).wantsBareAcknowledgement
        return .json(.ok, isBare ? message : ["msg": message])
    }

    private func requireOwn(_ context: ScribeContext) throws -> TemplateID {
        let id = TemplateID(context.text(of: Self.parameter) ?? "")
        guard runtime.templates[id] == nil else {
            throw ScribeError.invalidState("A default template can be neither changed nor deleted")
        }
        return id
    }

    private func requireKnown(_ ids: [SectionID], or present: [SectionID] = [], of business: BusinessID) async throws {
        let known = try await Set(
            runtime.templates.sections.map(\.id) + runtime.store.templates.sections(of: business).map(\.id) + present)
        guard let unknown = ids.firstIndex(where: { !known.contains($0) }) else { return }
        throw ScribeError.invalidRequest(field: "section_ids.\(unknown)", problem: "is not a section")
    }
}
