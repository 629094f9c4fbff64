/// One result of a transaction: its transcript, or a note after one of the requested templates.
package struct ResultDocument: Hashable, Sendable {
    /// What the document is, in the API's `document_type`.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case transcript
        case custom
        case integration
        /// What a client has written itself.
        case notes
        case context
    }

    package enum Status: String, Hashable, Sendable, CaseIterable {
        case inProgress = "in-progress"
        case success
        case partialSuccess = "partial_success"
        case failure

        package var isFinal: Bool { self != .inProgress }
        /// Whether there is something to show.
        package var isUsable: Bool { self == .success || self == .partialSuccess }
    }

    package let id: DocumentID
    package let kind: Kind
    package let templateID: TemplateID
    package let name: String
    package let format: Template.Format
    /// `raw` for the base transcript, nil for notes.
    package var language: String?
    /// Whether a person has written it; it is not written over then.
    package var isEdited: Bool
    package var status: Status
    /// The content itself, not yet base64.
    package var value: String?
    package var errors: [Diagnostic]
    package var warnings: [Diagnostic]

    /// The id under which the base transcript is listed and asked for.
    package static let transcriptTemplate = TemplateID("transcript")

    package init(
        id: DocumentID, kind: Kind, templateID: TemplateID, name: String, format: Template.Format,
        language: String? = nil, isEdited: Bool = false, status: Status = .inProgress, value: String? = nil,
        errors: [Diagnostic] = [], warnings: [Diagnostic] = []
    ) {
        self.id = id
        self.kind = kind
        self.templateID = templateID
        self.name = name
        self.format = format
        self.language = language
        self.isEdited = isEdited
        self.status = status
        self.value = value
        self.errors = errors
        self.warnings = warnings
    }
}

extension [ResultDocument] {
    /// What the documents amount to together.
    package enum Outcome: Hashable, Sendable {
        case inProgress, success, partial, failure
    }

    /// Success and failure need every document to agree; any mix is partial (eka.md 2.4).
    package var outcome: Outcome {
        if isEmpty || contains(where: { !$0.status.isFinal }) { return .inProgress }
        if allSatisfy({ $0.status == .success }) { return .success }
        return contains(where: \.status.isUsable) ? .partial : .failure
    }
}

extension ResultDocument {
    /// Whether a client means this one when it says the template's name.
    package func answers(to template: TemplateID) -> Bool {
        switch kind {
        case .transcript: template == ResultDocument.transcriptTemplate
        case .custom, .integration, .notes, .context:
            template != ResultDocument.transcriptTemplate && templateID == template
        }
    }
}
