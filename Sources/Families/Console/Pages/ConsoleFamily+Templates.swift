import Basics
import Engines
import Foundation
import Hummingbird
import ScribeDomain
import ScribeHTTP
import ScribeRuntime
import ScribeStore

/// Templates: lists them, and tries one on a transcript.
extension ConsoleFamily {
    /// Most templates of a business on the page, and most sections to choose from.
    private static let maxTemplates = 100
    private static let maxSections = 300

    func templates(_ pageRequest: PageRequest) async throws -> Page {
        let world = pageRequest.context.world
        let client = pageRequest.request.query.text("client").flatMap { $0.isEmpty ? nil : ClientID($0) }
        let chosen = client ?? usualClient(pageRequest.context) ?? world.authenticator.clients.ids.first
        let business = chosen.flatMap { world.authenticator.clients[$0]?.principal.business }
        let store = world.runtime.store
        let own = if let business { try await store.templates.all(of: business) } else { [CustomTemplate]() }
        let sections = if let business { try await store.templates.sections(of: business) } else { [TemplateSection]() }
        let known = (world.runtime.templates.sections + sections).prefix(Self.maxSections)
        let shipped = world.runtime.templates.templates
        return Page(
            key: "templates", title: "Templates", template: "templates",
            model: [
                "client": chosen?.rawValue ?? "", "business": business?.rawValue ?? "",
                "clients": Self.clientOptions(world.authenticator.clients.ids, chosen: chosen),
                "own": own.prefix(Self.maxTemplates).map { template -> ConsoleViews.Model in
                    [
                        "id": template.id.rawValue, "name": template.title, "summary": template.summary ?? "",
                        "ids": template.sectionIDs.prefix(Self.maxSections).map(\.rawValue)
                            .joined(separator: " "),
                    ]
                },
                "sections": known.map { ["value": $0.id.rawValue, "label": $0.title] as ConsoleViews.Model },
                "hasMore": own.count > Self.maxTemplates,
                "shipped": shipped.map { template -> ConsoleViews.Model in
                    [
                        "id": template.id.rawValue, "name": template.name, "summary": template.summary ?? "",
                        "format": template.format.rawValue,
                        "sections": template.sections.map(\.title).joined(separator: ", "),
                    ]
                },
                "options": Self.options(
                    own.prefix(Self.maxTemplates).map { ($0.id.rawValue, $0.title) }
                        + shipped.map { ($0.id.rawValue, $0.name) }, chosen: nil),
            ])
    }

    /// Writes a note from a pasted transcript, and says which words each statement came from.
    func note(_ request: Request, _ context: ScribeContext) async throws -> Response {
        struct Wish: Decodable {
            let template: String
            let transcript: String
            let client: String?
        }
        guard request.isDeclaredAsJSON else { throw ConsoleError.notJSON }
        let wish = try await request.decodeJSON(as: Wish.self, in: context)
        if let error = context.namespaceError { throw error }
        guard wish.transcript.utf8.count <= Limits.transcript else {
            throw ScribeError.invalidRequest(field: "transcript", problem: "is too long")
        }
        let world = context.world
        let client = wish.client.map { ClientID($0) } ?? usualClient(context)
        let business = client.flatMap { world.authenticator.clients[$0]?.principal.business }
        guard let template = try await template(TemplateID(wish.template), of: business, world) else {
            throw ConsoleError.notFound
        }
        let visit = Visit(id: "preview", business: business?.rawValue ?? "", time: world.runtime.clock.now)
        let noteRequest = NoteRequest(template, from: wish.transcript, of: visit)
        let note = try await RulesNoteWriter(facts: facts).write(noteRequest)
        let evidence = try await NoteEvidence(of: template, in: wish.transcript, facts)
        return try await .longJSON(
            .ok, ["note": .string(note.value), "format": .string(template.format.rawValue), "sections": evidence.json])
    }

    /// A template of the server, or of a business; nil if there is none.
    func template(_ id: TemplateID, of business: BusinessID?, _ world: World) async throws -> Template? {
        let catalogue = world.runtime.templates
        if let shipped = catalogue[id] { return shipped }
        let store = world.runtime.store
        guard let business, let own = try await store.templates.template(id, of: business) else { return nil }
        let sections = try await catalogue.sections + store.templates.sections(of: business)
        return own.template(
            with: Dictionary(sections.map { ($0.id, $0) }, uniquingKeysWith: { $1 }), fallback: catalogue.fallback)
    }
}
