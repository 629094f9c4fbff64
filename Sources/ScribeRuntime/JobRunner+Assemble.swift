import Foundation
import Logging
import ScribeDomain
import ScribeStore
import Transcription

extension JobRunner {
    /// Puts the results of a transaction together: the transcript first, which some clients wait for alone (C-34),
    /// when notes take their time, then a note for each requested template.
    /// - Parameter input: what it is made from, when that is known.
    /// - Returns: whether there may be further jobs now.
    func assemble(_ job: Job, from input: AssemblyInput?) async throws -> Bool {
        let assembly =
            if let input {
                Assembly.ready(input)
            } else {
                try await store.planAssembly(job, objectWait: policy.objectWait / .seconds(1), at: clock.now)
            }
        switch assembly {
        case .waiting, .obsolete:
            return true
        case .ready(let input):
            if let time = heldBack(input), clock.now < time {
                // Put back, so that it takes the place of no other transaction meanwhile.
                try await store.postpone(job, until: time, countsAttempt: false)
                return true
            }
            let (chunks, heard) = try await hear(input.chunks, job)
            let known = input.documents.first { $0.kind == .transcript && $0.status.isFinal }
            let transcript =
                known.map(Transcript.init(of:))
                ?? Transcript(stitching: chunks, languages: input.transaction.request.inputLanguages)
            var documents = input.documents
            for index in documents.indices where documents[index].kind == .transcript && known == nil {
                documents[index] = documents[index].filled(from: transcript)
                guard transcript.status.isUsable, !noteWriter.isInstant else { continue }
                try await store.save([documents[index]], for: input, at: clock.now)
                signals.post(job.transaction)
            }
            for index in documents.indices where !documents[index].status.isFinal {
                documents[index] = try await note(documents[index], from: transcript, of: input.transaction)
            }
            let outcome = outcome(of: documents)
            let isDone = try await store.finish(
                job, for: input, heard: heard, documents: documents, outcome: outcome, quality: chunks.quality,
                at: clock.now
            )
            if isDone { metrics.transactionProcessed(outcome: outcome.rawValue) }
            signals.post(job.transaction)
            return !isDone
        }
    }

    /// Until when a fixture holds the results back; nil when none does.
    private func heldBack(_ input: AssemblyInput) -> Date? {
        guard !input.chunks.isEmpty, let fixture = input.transaction.request.fixture,
            let delay = transcriber.delay(ofFixture: fixture)
        else { return nil }
        return input.transaction.committedAt?.addingTimeInterval(delay)
    }

    /// All that was said, in order; and apart from it what was heard only now.
    private func hear(
        _ chunks: [CommittedChunk], _ job: Job
    ) async throws -> (outcomes: [ChunkOutcome], heard: [HeardChunk]) {
        var outcomes: [ChunkOutcome] = []
        var heard: [HeardChunk] = []
        var before: ChunkTimes?
        for chunk in chunks {
            switch chunk {
            case .heard(let outcome):
                before = outcome.times
                outcomes.append(outcome)
            case .unheard(let chunk, let times):
                // Only such words are taken out again where the chunks are joined (eka-v2.md 10.16).
                let overlaps = times.flatMap { before?.overlaps($0) } ?? false
                before = times
                let result = try await result(of: chunk, overlaps: overlaps, job)
                outcomes.append(ChunkOutcome(file: chunk.name, times: times, result: result))
                heard.append((chunk, result))
            }
        }
        return (outcomes, heard)
    }

    /// - Throws: what says nothing of the note: that the server stops, or what the store throws.
    private func note(
        _ document: ResultDocument, from transcript: Transcript, of transaction: Transaction
    ) async throws -> ResultDocument {
        guard transcript.status.isUsable else { return document.filled(from: transcript) }
        let template =
            try await template(document.templateID, of: transaction.key.business)
            ?? templates.improvised(for: document)
        var note = document
        do {
            note.value = try await noteWriter.write(template, from: transcript.text)
            note.status = transcript.status
            note.warnings = transcript.warnings
            if let language = document.language, !transaction.request.isSpoken(in: language) {
                note.status = .partialSuccess
                note.warnings.append(Diagnostic(.notTranslated, "The note is in the language that was spoken"))
            }
        } catch let error where !(error is CancellationError) {
            logger.error("a note was not written", metadata: ["document_id": "\(document.id)", "error": "\(error)"])
            note.status = .failure
            note.value = nil
            note.errors = [Diagnostic(.noteFailed, "The note could not be written")]
        }
        return note
    }

    /// The server's own templates first: their ids are known to clients and cannot be taken.
    private func template(_ id: TemplateID, of business: BusinessID) async throws -> Template? {
        if let template = templates[id] { return template }
        guard let own = try await store.template(id, of: business) else { return nil }
        return templates.template(own, ownSections: try await store.sections(of: business))
    }

    /// The words of the templates that a transaction has asked for.
    func vocabulary(of key: Transaction.Key) async throws -> [String] {
        guard let request = try await store.transaction(key)?.request else { return [] }
        var words: [String] = []
        for requested in templates.requested(by: request) {
            words += try await (template(requested.id, of: key.business) ?? templates.fallback).vocabulary
        }
        return words.removingDuplicates()
    }

    /// A failure that a further commit may cure is the system's; one that lies in the audio is the request's.
    private func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus {
        guard documents.outcome == .failure else { return .success }
        return documents.contains { $0.errors.contains(where: \.isCurable) }
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
