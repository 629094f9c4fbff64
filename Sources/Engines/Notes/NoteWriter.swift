package import ScribeDomain

/// Writer of notes: turns a transcript into a note that follows a template.
///
/// A server has one writer for all tenants. Its callers are the workers of recordings and of notes. Calls overlap, and
/// come on Swift's own threads: blocking work needs other threads. ``GuardedNoteWriter`` adds the time limit, the limit
/// of concurrent calls and the circuit breaker to a writer that takes time.
package protocol NoteWriter: Engine {
    /// Whether notes take negligible time, so that no client needs the transcript earlier than the note.
    /// A slower writer gets a job for each note. Constant.
    var isInstant: Bool { get }

    /// Number of requests to a service that a note may take; the time limit holds for each. 0 for a note that needs no
    /// service, which is written also while the service fails.
    func requestCount(for request: NoteRequest) -> Int

    /// Writes one note. The same request may come again: after a retryable failure, and after a restart.
    /// - Parameter request: the template, and the transcript of all files of the recording.
    /// - Returns: the note in the format of the template, with the writer's doubts as warnings.
    /// - Throws: ``EngineFailure``, whose ``EngineFailure/isRetryable`` decides about another attempt;
    ///   `CancellationError` soon after the task is cancelled, which happens when the server stops or the time limit
    ///   ends. Any other error fails the note for good.
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
    /// Visit that the note is about.
    package let visit: Visit

    /// Tenant of the note: waiting notes of several tenants take turns.
    package var tenant: String { visit.business }

    /// Whether a failure now is final for the note.
    package var isLastAttempt = false

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
    /// Name of the writer; nil for the one that was asked.
    package let writer: String?
    /// Failure of the writer that was asked, if another one wrote.
    package let failure: EngineFailure?

    package init(
        value: String, warnings: [Diagnostic] = [], by writer: String? = nil, after failure: EngineFailure? = nil
    ) {
        self.value = value.storable
        self.warnings = warnings
        self.writer = writer
        self.failure = failure
    }
}
