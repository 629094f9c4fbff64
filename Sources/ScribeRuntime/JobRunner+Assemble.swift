import Foundation
import Logging
import ScribeDomain
import ScribeStore
import Transcription

extension JobRunner {
    /// Puts the results of a transaction together: the transcript first, which some clients wait for alone (C-34),
    /// then a note for each requested template.
    func assemble(_ job: Job) async throws {
        let wait = policy.objectWait / .seconds(1)
        switch try await store.planAssembly(job, objectWait: wait, at: clock.now) {
        case .waiting, .obsolete:
            return
        case .ready(let input):
            let transcript = Transcript(stitching: input.chunks)
            let finished = input.documents.filter { $0.kind == .transcript }.map { $0.filled(from: transcript) }
            if transcript.status.isUsable {
                try await store.save(finished, for: input, at: clock.now)
                signals.post(job.transaction)
            }
            var notes: [ResultDocument] = []
            for document in input.documents where document.kind != .transcript {
                notes.append(await note(document, from: transcript))
            }
            let outcome = outcome(of: finished + notes)
            try await store.finish(job, for: input, documents: finished + notes, outcome: outcome, at: clock.now)
            metrics.transactionProcessed(outcome: outcome.rawValue)
            signals.post(job.transaction)
        }
    }

    private func note(_ document: ResultDocument, from transcript: Transcript) async -> ResultDocument {
        guard transcript.status.isUsable else { return document.filled(from: transcript) }
        var note = document
        do {
            note.value = try await noteWriter.write(templates.template(for: document), from: transcript.text)
            note.status = transcript.status
            note.warnings = transcript.warnings
        } catch {
            logger.error("a note was not written", metadata: ["document_id": "\(document.id)", "error": "\(error)"])
            note.status = .failure
            note.value = nil
            note.errors = [Diagnostic(.noteFailed, "The note could not be written")]
        }
        return note
    }

    /// A failure that a further commit may cure is the system's; one that lies in the audio is the request's.
    private func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus {
        guard documents.outcome == .failure else { return .success }
        let curable: Set<Diagnostic.Code> = [.transcriptionFailed, .transcriptionTimeout, .noteFailed]
        return documents.contains { $0.errors.contains { curable.contains($0.code) } }
            ? .systemFailure : .requestFailure
    }
}

extension ResultDocument {
    fileprivate func filled(from transcript: Transcript) -> ResultDocument {
        var document = self
        document.status = transcript.status
        document.value = transcript.status.isUsable ? transcript.text : nil
        document.errors = transcript.errors
        document.warnings = transcript.warnings
        return document
    }
}
