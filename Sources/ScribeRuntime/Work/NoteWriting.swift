import Basics
import Engines
import Foundation
import Logging
import ScribeDomain
import ScribeStore

/// Writes the notes of a transaction by their templates.
struct NoteWriting: Sendable {
    let store: Store
    let writer: any NoteWriter
    let fixtureBehaviour: FixtureBehaviour
    let faults: FaultRules
    let templates: TemplateCatalogue
    let metrics: Metrics
    let clock: WorldClock
    let logger: Logger

    /// Fills a document with its note, or with the reason why there is no note. Does not store the document.
    /// - Parameter isLastAttempt: whether a failure now is final for the note.
    /// - Throws: an error that another attempt may avoid, or one that is not about the note: a stop of the server, or
    ///   the store's error.
    func note(
        _ document: ResultDocument, from transcript: Transcript, of request: TransactionRequest,
        _ key: Transaction.Key, isLastAttempt: Bool
    ) async throws -> ResultDocument {
        guard transcript.status.isUsable else { return document.filled(from: transcript) }
        if document.shownKind != .transcript, let note = note(document, chosenFor: transcript, of: request, key) {
            return note
        }
        let template = try await template(of: document, request, key.business)
        let visit = try await visit(key, request, for: template)
        let start = clock.wall.now
        var note = document
        var author = writer.name
        do {
            var wanted = NoteRequest(
                template, from: transcript.text, of: visit,
                isInSpokenLanguage: document.language.map(request.isSpoken) ?? true, isDictated: request.isDictated)
            wanted.isLastAttempt = isLastAttempt
            let written = try await writer.write(wanted)
            author = written.writer ?? author
            if let failure = written.failure {
                logger.warning(
                    "the rules wrote a note, because the model failed",
                    metadata: ["document_id": "\(document.id)", "error": "\(failure.logged)"])
            }
            note.value = written.value
            note.status = written.warnings.isEmpty ? transcript.status : .partialSuccess
            note.warnings = transcript.warnings + written.warnings
        } catch let error where !(error is CancellationError) {
            let failure = error as? EngineFailure
            if failure?.origin == .refusal || failure?.isRetryable == true && !isLastAttempt { throw error }
            logger.error(
                "a note was not written",
                metadata: ["document_id": "\(document.id)", "error": "\(failure?.logged ?? "\(error)")"])
            note = document.failed(Diagnostic(.noteFailed, "The note could not be written"))
        }
        metrics.noteWritten(
            by: author, outcome: note.errors.first?.code.rawValue ?? "success",
            seconds: clock.wall.now.timeIntervalSince(start))
        return note
    }

    /// The note that a fault rule or a fixture chooses; nil if none does.
    private func note(
        _ document: ResultDocument, chosenFor transcript: Transcript, of request: TransactionRequest,
        _ key: Transaction.Key
    ) -> ResultDocument? {
        let decision = faults.decision(for: key, at: clock.wall.now)
        switch decision.note {
        case .failure(let code):
            return document.failed(Diagnostic(code, "A fault rule says so", cause: decision.cause))
        case .empty: return document.written("", from: transcript)
        case .result(let text): return document.written(text, from: transcript)
        case .delay, nil: return fixtureBehaviour.note(of: request).map { document.written($0, from: transcript) }
        }
    }

    /// Visit of a recording. Only FHIR has the time of the visit, which costs a read.
    private func visit(
        _ key: Transaction.Key, _ request: TransactionRequest, for template: Template
    ) async throws -> Visit {
        let began = template.format == .fhir ? try await store.transactions.transaction(key)?.createdAt : nil
        return Visit(key, request, at: began ?? clock.now)
    }

    private func template(
        of document: ResultDocument, _ request: TransactionRequest, _ business: BusinessID
    ) async throws -> Template {
        if let template = store.policies[request.kind].template(document.templateID, of: request) { return template }
        return try await templates.template(document.templateID, of: business, in: store)
            ?? templates.fallbackTemplate(for: document)
    }
}

extension ResultDocument {
    func filled(from transcript: Transcript) -> ResultDocument {
        var document = self
        document.status = transcript.status
        document.value = transcript.status.isUsable ? transcript.text : nil
        document.errors = transcript.errors
        document.warnings = transcript.warnings
        return document
    }

    /// A note with this text, with the transcript's status and warnings.
    func written(_ text: String, from transcript: Transcript) -> ResultDocument {
        var document = self
        document.status = transcript.status
        document.value = text
        document.warnings = transcript.warnings
        return document
    }

    func failed(_ diagnostic: Diagnostic) -> ResultDocument {
        var document = self
        document.status = .failure
        document.value = nil
        document.errors = [diagnostic]
        return document
    }
}
