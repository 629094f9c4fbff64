package import ScribeDomain
import ScribeStore

/// Templates and sections of the server itself, with a fallback for unknown template ids (eka.md 6.1).
package struct TemplateCatalogue: Sendable {
    package let templates: [Template]
    package let sections: [TemplateSection]
    private let byID: [TemplateID: Template]
    private let hidden: Set<TemplateID>
    /// The layout for unknown ids, and the note of a transaction that requests no template: some clients wait until
    /// there is a note (C-31).
    package let fallback: Template

    /// - Parameters:
    ///   - templates: At least one; the first is the ``fallback``.
    ///   - hidden: Templates that are known by their ids and that no list shows: each recording chooses its sections.
    package init(_ templates: [Template], hidden: [Template] = [], sections: [TemplateSection] = []) {
        precondition(!templates.isEmpty, "a server without templates can write no notes")
        self.templates = templates
        self.sections = sections
        fallback = templates[0]
        byID = Dictionary((templates + hidden).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.hidden = Set(hidden.map(\.id))
    }

    /// Whether clients may request the template: it is known and not hidden.
    package func offers(_ id: TemplateID) -> Bool { byID[id] != nil && !hidden.contains(id) }

    package subscript(id: TemplateID) -> Template? { byID[id] }

    /// Returns the catalogue with further hidden templates.
    package func hiding(_ others: [Template]) -> TemplateCatalogue {
        TemplateCatalogue(templates, hidden: hidden.compactMap { byID[$0] } + others, sections: sections)
    }

    /// The documents of a new transaction: its transcript, requested or not (C-35), and one note for each requested
    /// template.
    /// - Parameter custom: The business's own templates.
    package func documents(
        for request: TransactionRequest, custom: [CustomTemplate], identifiers: WorldIdentifiers
    ) -> [ResultDocument] {
        let transcript = ResultDocument(
            id: DocumentID(identifiers.uuid(.document)), kind: .transcript,
            templateID: ResultDocument.transcriptTemplate,
            name: "Transcript", format: .transcript, language: "raw"
        )
        var seen = Set<TemplateID>()
        return [transcript]
            + requested(by: request).filter { seen.insert($0.id).inserted }.map {
                document(for: $0, custom, identifiers)
            }
    }

    /// The templates that a transaction requests; the ``fallback`` if it requests none.
    func requested(by request: TransactionRequest) -> [TransactionRequest.RequestedTemplate] {
        request.templates.isEmpty ? [.init(id: fallback.id)] : request.templates
    }

    /// The unwritten document of one requested template.
    package func document(
        for wanted: TransactionRequest.RequestedTemplate, _ custom: [CustomTemplate], _ identifiers: WorldIdentifiers
    ) -> ResultDocument {
        let own = custom.first { $0.id == wanted.id }
        let template = own == nil ? byID[wanted.id] : nil
        let isIntegration = template?.bucket == .integration || wanted.type == "integration"
        return ResultDocument(
            id: DocumentID(identifiers.uuid(.document)), kind: isIntegration ? .integration : .custom,
            templateID: wanted.id,
            name: own?.title ?? template?.name ?? wanted.name ?? wanted.id.rawValue,
            // A client that requests the transcript's template gets the transcript among the notes, too.
            format: wanted.id == ResultDocument.transcriptTemplate ? .transcript : template?.format ?? fallback.format
        )
    }

    /// The unwritten document of the transcript in another language.
    func translation(into language: String, _ identifiers: WorldIdentifiers) -> ResultDocument {
        ResultDocument(
            id: DocumentID(identifiers.uuid(.document)), kind: .custom,
            templateID: ResultDocument.translationTemplate(language), name: "Transcript", format: .transcript,
            language: language)
    }

    /// Words in template names that do not distinguish templates.
    private static let commonWords: Set = ["note", "notes", "template", "format", "default"]

    /// The sections of the known template with a name, such as "SOAP Notes"; for any other name those of the
    /// ``fallback``.
    private func sections(named name: String) -> [Template.Section] {
        func words(_ name: String) -> [String] {
            name.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
                .filter { !Self.commonWords.contains($0) }
        }
        let wanted = words(name)
        let known = templates.first { !wanted.isEmpty && !$0.sections.isEmpty && words($0.name) == wanted }
        return (known ?? fallback).sections
    }

    /// Makes a template for a document whose template id is unknown. Its sections are those of the known template with
    /// its name.
    func fallbackTemplate(for document: ResultDocument) -> Template {
        Template(
            id: document.templateID, name: document.name, format: document.format,
            bucket: document.kind == .integration ? .integration : .custom,
            sections: sections(named: document.name)
        )
    }

    /// The template with an id, for writing notes; nil if there is none. The server's own come first: clients know
    /// their ids, and a business cannot reuse them.
    func template(_ id: TemplateID, of business: BusinessID, in store: Store) async throws -> Template? {
        if let template = self[id] { return template }
        guard let own = try await store.templates.template(id, of: business) else { return nil }
        return template(own, ownSections: try await store.templates.sections(of: business))
    }

    /// Converts a business's own template for writing notes.
    private func template(_ custom: CustomTemplate, ownSections: [TemplateSection]) -> Template {
        let known = Dictionary((ownSections + sections).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return custom.template(with: known, fallback: fallback)
    }
}
