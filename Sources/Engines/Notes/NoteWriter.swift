package import ScribeDomain

/// Turns a transcript into a note after a template.
package protocol NoteWriter: Sendable {
    /// How it is called in `/readyz` and in logs, for example `rules`.
    var name: String { get }

    /// Whether it can be used now, for `/readyz`.
    var condition: EngineCondition { get }

    /// Whether a note takes no time to speak of, so that nobody needs to be given the transcript before it. A writer
    /// that takes time gets a job for each note.
    var isInstant: Bool { get }

    /// Writes one note.
    /// - Throws: ``EngineFailure``, or `CancellationError` when the server stops.
    func write(_ request: NoteRequest) async throws -> WrittenNote
}

extension NoteWriter {
    package var condition: EngineCondition { .available }
}

/// What a note is to be.
package struct NoteRequest: Sendable {
    /// Its sections and its format, see ``Template/Format``.
    package let template: Template
    package let transcript: String
    /// The language that it was asked for in, in any of the API's spellings; nil for the one that was spoken.
    package let language: String?
    /// Whether that is the one that was spoken.
    package let isInSpokenLanguage: Bool
    /// Whose it is: where notes wait, tenants take turns.
    package let tenant: String
    /// Whether the note has failed if this fails.
    package let isLastAttempt: Bool

    package init(
        _ template: Template, from transcript: String, language: String? = nil, isInSpokenLanguage: Bool = true,
        tenant: String = "", isLastAttempt: Bool = false
    ) {
        self.template = template
        self.transcript = transcript
        self.language = language
        self.isInSpokenLanguage = isInSpokenLanguage
        self.tenant = tenant
        self.isLastAttempt = isLastAttempt
    }
}

/// A note in its template's format, and what its writer has doubts about.
package struct WrittenNote: Hashable, Sendable {
    package let value: String
    /// Make the note a partial success.
    package let warnings: [Diagnostic]

    package init(value: String, warnings: [Diagnostic] = []) {
        self.value = value.storable
        self.warnings = warnings
    }
}
