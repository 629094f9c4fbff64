package import ScribeDomain

/// The templates that this server knows, and what it makes of ids that it does not (eka-v2.md 10.15).
package struct TemplateCatalogue: Sendable {
    private let templates: [TemplateID: Template]
    private let fallback: Template

    /// - Parameter templates: at least one; the first lends its layout to unknown ids and is written when a
    ///   transaction asks for none, for some clients wait until there is a note (C-31).
    package init(_ templates: [Template]) {
        precondition(!templates.isEmpty, "a server without templates can write no notes")
        self.fallback = templates[0]
        self.templates = Dictionary(templates.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The documents that a transaction will have: its transcript, asked for or not (C-35), and a note for each
    /// requested template, each once.
    package func documents(for request: TransactionRequest, identifiers: IdentifierSource) -> [ResultDocument] {
        let requested = request.templates.isEmpty ? [.init(id: fallback.id)] : request.templates
        let transcript = ResultDocument(
            id: DocumentID(identifiers.uuid()), kind: .transcript, templateID: ResultDocument.transcriptTemplate,
            name: "Transcript", format: .transcript, language: "raw"
        )
        var seen = Set<TemplateID>()
        return [transcript]
            + requested.filter { seen.insert($0.id).inserted }.map { wanted in
                let template = templates[wanted.id]
                let isIntegration = template?.bucket == .integration || wanted.type == "integration"
                return ResultDocument(
                    id: DocumentID(identifiers.uuid()), kind: isIntegration ? .integration : .custom,
                    templateID: wanted.id, name: template?.name ?? wanted.name ?? wanted.id.rawValue,
                    format: template?.format ?? fallback.format
                )
            }
    }

    /// How a document is to be written.
    func template(for document: ResultDocument) -> Template {
        if let known = templates[document.templateID] { return known }
        return Template(
            id: document.templateID, name: document.name, format: fallback.format,
            bucket: document.kind == .integration ? .integration : .custom, sections: fallback.sections
        )
    }
}
