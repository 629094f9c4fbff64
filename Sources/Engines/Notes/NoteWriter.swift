package import ScribeDomain

/// Writer of notes: turns a transcript into a note that follows a template.
package protocol NoteWriter: Engine {
    /// Whether notes take negligible time, so that no client needs the transcript earlier than the note.
    /// A slower writer gets a job for each note.
    var isInstant: Bool { get }

    /// Number of requests to a service that a note may take; the time limit holds for each.
    func requestCount(for request: NoteRequest) -> Int

    /// Writes one note.
    /// - Throws: ``EngineFailure``, or `CancellationError` when the server stops.
    func write(_ request: NoteRequest) async throws -> WrittenNote
}

extension NoteWriter {
    package func requestCount(for request: NoteRequest) -> Int { 1 }
}

/// Request for one note.
package struct NoteRequest: Sendable {
    /// Template with the sections and the ``Template/Format`` of the note.
    package let template: Template
    package let transcript: String
    /// Whether the requested language is the spoken one.
    package let isInSpokenLanguage: Bool
    /// Whether the transcript is a dictated note, and no conversation.
    package let isDictated: Bool
    /// Tenant of the note: waiting notes of several tenants take turns.
    package let tenant: String

    /// Whether a failure now is final for the note.
    package var isLastAttempt = false

    package init(
        _ template: Template, from transcript: String, isInSpokenLanguage: Bool = true, isDictated: Bool = false,
        tenant: String = ""
    ) {
        self.template = template
        self.transcript = transcript
        self.isInSpokenLanguage = isInSpokenLanguage
        self.isDictated = isDictated
        self.tenant = tenant
    }
}

extension NoteRequest {
    /// Warning of a writer that does not translate; empty if the spoken language was requested.
    var languageWarnings: [Diagnostic] {
        isInSpokenLanguage ? [] : [Diagnostic(.notTranslated, "The note is in the language that was spoken")]
    }
}

/// Note in its template's format, with the writer's doubts.
package struct WrittenNote: Hashable, Sendable {
    package let value: String
    /// Doubts of the writer; any warning makes the note a partial success.
    package let warnings: [Diagnostic]

    package init(value: String, warnings: [Diagnostic] = []) {
        self.value = value.storable
        self.warnings = warnings
    }
}
