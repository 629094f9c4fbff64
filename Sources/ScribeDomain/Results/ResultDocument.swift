/// Result of a transaction: its transcript, or a note from one of the requested templates.
package struct ResultDocument: Hashable, Sendable {
    /// Kind of a document, the `document_type` of the API.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case transcript
        case custom
        case integration
        /// Note that a client wrote itself.
        case notes
        case context
    }

    package enum Status: String, Hashable, Sendable, CaseIterable {
        case inProgress = "in-progress"
        case success
        case partialSuccess = "partial_success"
        case failure

        package var isFinal: Bool { self != .inProgress }
        /// Whether the document has content to show.
        package var isUsable: Bool { self == .success || self == .partialSuccess }
    }

    package let id: DocumentID
    package let kind: Kind
    package let templateID: TemplateID
    package let name: String
    package let format: Template.Format
    /// Language of the document: `raw` for the base transcript, nil for notes.
    package var language: String?
    /// Whether a person edited the document; processing does not overwrite edited documents.
    package var isEdited: Bool
    package var status: Status
    /// Content of the document, before base64.
    package var value: String?
    package var errors: [Diagnostic]
    package var warnings: [Diagnostic]

    /// Template id under which clients list and request the base transcript.
    package static let transcriptTemplate = TemplateID("transcript")

    private static let translationPrefix = "transcript_"

    /// Template id of the transcript in another language.
    package static func translationTemplate(_ language: String) -> TemplateID {
        TemplateID(translationPrefix + language)
    }

    /// Language of the transcript with this template id; nil for the id of any other result.
    package static func translationLanguage(of template: TemplateID) -> String? {
        guard template.rawValue.hasPrefix(translationPrefix) else { return nil }
        let language = String(template.rawValue.dropFirst(translationPrefix.utf8.count))
        return SpokenLanguage.isKnown(language) ? language : nil
    }

    /// Kind that clients are told. A transcript in another language is one of the notes, which can be written again.
    package var shownKind: Kind {
        language.map(Self.translationTemplate) == templateID ? .transcript : kind
    }

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
    /// Combined outcome of all documents of a transaction.
    package enum Outcome: Hashable, Sendable {
        case inProgress, success, partial, failure
    }

    /// Combined outcome: success or failure if all documents agree, partial for any mix (eka.md 2.4).
    package var outcome: Outcome {
        if isEmpty || contains(where: { !$0.status.isFinal }) { return .inProgress }
        if allSatisfy({ $0.status == .success }) { return .success }
        return contains(where: \.status.isUsable) ? .partial : .failure
    }
}

extension ResultDocument {
    /// Whether the document is the result that a client means by a template id.
    package func answers(to template: TemplateID) -> Bool {
        switch kind {
        case .transcript: template == ResultDocument.transcriptTemplate
        case .custom, .integration, .notes, .context:
            template != ResultDocument.transcriptTemplate && templateID == template
        }
    }
}

extension Transaction {
    /// Whether the results of the transaction are final, or it is cancelled.
    package func isFinal(with documents: [ResultDocument]) -> Bool {
        processingStatus == .cancelled
            || processingStatus != .inProgress && documents.allSatisfy { $0.status.isFinal }
    }
}
