package import ScribeDomain
import ScribeStore

/// The templates and sections that this server came with, and what it makes of ids that it does not know
/// (eka.md 10.15).
package struct TemplateCatalogue: Sendable {
    package let templates: [Template]
    package let sections: [TemplateSection]
    private let byID: [TemplateID: Template]
    private let hidden: Set<TemplateID>
    /// Lends its layout to unknown ids and is written when a transaction asks for none, for some clients wait until
    /// there is a note (C-31).
    package let fallback: Template

    /// - Parameters:
    ///   - templates: at least one; the first is the ``fallback``.
    ///   - hidden: known by their ids, and offered to nobody: each recording chooses what is in them.
    package init(_ templates: [Template], hidden: [Template] = [], sections: [TemplateSection] = []) {
        precondition(!templates.isEmpty, "a server without templates can write no notes")
        self.templates = templates
        self.sections = sections
        fallback = templates[0]
        byID = Dictionary((templates + hidden).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.hidden = Set(hidden.map(\.id))
    }

    /// Whether clients can ask for the template.
    package func offers(_ id: TemplateID) -> Bool { byID[id] != nil && !hidden.contains(id) }

    package subscript(id: TemplateID) -> Template? { byID[id] }

    /// The same catalogue that knows further templates and offers them to nobody.
    package func hiding(_ others: [Template]) -> TemplateCatalogue {
        TemplateCatalogue(templates, hidden: hidden.compactMap { byID[$0] } + others, sections: sections)
    }

    /// The documents that a transaction will have: its transcript, asked for or not (C-35), and a note for each
    /// requested template, each once.
    /// - Parameter custom: the business's own among the requested templates.
    package func documents(
        for request: TransactionRequest, custom: [CustomTemplate], identifiers: IdentifierSource
    ) -> [ResultDocument] {
        let transcript = ResultDocument(
            id: DocumentID(identifiers.uuid()), kind: .transcript, templateID: ResultDocument.transcriptTemplate,
            name: "Transcript", format: .transcript, language: "raw"
        )
        var seen = Set<TemplateID>()
        return [transcript]
            + requested(by: request).filter { seen.insert($0.id).inserted }.map {
                document(for: $0, custom, identifiers)
            }
    }

    /// The templates that a transaction asks for; who asks for none gets the ``fallback``.
    func requested(by request: TransactionRequest) -> [TransactionRequest.RequestedTemplate] {
        request.templates.isEmpty ? [.init(id: fallback.id)] : request.templates
    }

    /// The document of one requested template, still to be written.
    package func document(
        for wanted: TransactionRequest.RequestedTemplate, _ custom: [CustomTemplate], _ identifiers: IdentifierSource
    ) -> ResultDocument {
        let own = custom.first { $0.id == wanted.id }
        let template = own == nil ? byID[wanted.id] : nil
        let isIntegration = template?.bucket == .integration || wanted.type == "integration"
        return ResultDocument(
            id: DocumentID(identifiers.uuid()), kind: isIntegration ? .integration : .custom, templateID: wanted.id,
            name: own?.title ?? template?.name ?? wanted.name ?? wanted.id.rawValue,
            // A client that asks for the transcript by its own name gets it among the notes, too.
            format: wanted.id == ResultDocument.transcriptTemplate ? .transcript : template?.format ?? fallback.format
        )
    }

    /// Words of a name that do not tell one template from another.
    private static let commonWords: Set = ["note", "notes", "template", "format", "default"]

    /// The sections of the known template of a name, such as "SOAP Notes"; the ``fallback``'s for any other name.
    private func sections(named name: String) -> [Template.Section] {
        func words(_ name: String) -> [String] {
            name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
                .filter { !Self.commonWords.contains($0) }
        }
        let wanted = words(name)
        let known = templates.first { !wanted.isEmpty && !$0.sections.isEmpty && words($0.name) == wanted }
        return (known ?? fallback).sections
    }

    /// A template for a document of an unknown one: with the sections of the known template of its name.
    func improvised(for document: ResultDocument) -> Template {
        Template(
            id: document.templateID, name: document.name, format: document.format,
            bucket: document.kind == .integration ? .integration : .custom,
            sections: sections(named: document.name)
        )
    }

    /// A template as notes are written after it: the server's own first, for their ids are known to clients and cannot
    /// be taken.
    func template(_ id: TemplateID, of business: BusinessID, in store: Store) async throws -> Template? {
        if let template = self[id] { return template }
        guard let own = try await store.template(id, of: business) else { return nil }
        return template(own, ownSections: try await store.sections(of: business))
    }

    /// A business's own template as notes are written after it.
    private func template(_ custom: CustomTemplate, ownSections: [TemplateSection]) -> Template {
        let known = Dictionary((ownSections + sections).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return custom.template(with: known, fallback: fallback)
    }
}
