package import ScribeDomain

/// Writer of notes: turns a transcript into a note that follows a template.
package protocol NoteWriter: Sendable {
    /// Name of the writer in `/readyz` and in logs, for example `rules`.
    var name: String { get }

    /// Whether the writer can be used now, for `/readyz`.
    var condition: EngineCondition { get }

    /// Whether notes take negligible time, so that no client needs the transcript earlier than the note.
    /// A slower writer gets a job for each note.
    var isInstant: Bool { get }

    /// Writes one note.
    /// - Throws: ``EngineFailure``, or `CancellationError` when the server stops.
    func write(_ request: NoteRequest) async throws -> WrittenNote
}

extension NoteWriter {
    package var condition: EngineCondition { .available }
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
    /// Visit that the note is about.
    package let visit: Visit

    /// Tenant of the note: waiting notes of several tenants take turns.
    package var tenant: String { visit.business }

    package init(
        _ template: Template, from transcript: String, of visit: Visit, isInSpokenLanguage: Bool = true,
        isDictated: Bool = false
    ) {
        self.template = template
        self.transcript = transcript
        self.isInSpokenLanguage = isInSpokenLanguage
        self.isDictated = isDictated
        self.visit = visit
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
