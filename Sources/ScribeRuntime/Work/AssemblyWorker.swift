import Basics
import Engines
import Foundation
import ScribeDomain
import ScribeStore

/// Makes the results of a committed transaction: the transcript, and a note for each requested template. If notes take
/// time, the transcript is stored first, because some clients wait for the transcript alone (C-34).
struct AssemblyWorker: Worker {
    let kind = Job.Kind.assemble
    let recognition: ChunkRecognition
    let writing: NoteWriting
    let policy: WorkPolicy

    private var store: Store { recognition.store }
    private var clock: WorldClock { recognition.clock }

    func perform(_ job: Job) async throws {
        switch try await plan(job) {
        // A waiting job is only a row: it holds no slot.
        case .waiting, .obsolete: break
        case .ready(let input):
            if let time = heldBack(input), clock.now < time {
                // Postponed, because a waiting job would hold a slot of other transactions.
                return try await store.work.postpone(job, until: time, countsAttempt: false)
            }
            try await assemble(input, job)
        }
    }

    private func plan(_ job: Job) async throws -> AssemblyPlan {
        if case .assemble(let input?) = job.work { return .ready(input) }
        return try await store.work.planAssembly(job, objectWait: policy.objectWait / .seconds(1), at: clock.now)
    }

    private func assemble(_ input: AssemblyInput, _ job: Job) async throws {
        let (chunks, heard) = try await recognise(input.chunks, job)
        let known = input.documents.first { $0.kind == .transcript && $0.status.isFinal }
        let request = input.transaction.request
        let transcript =
            known.map(Transcript.init(of:))
            ?? Transcript(
                stitching: chunks, languages: request.inputLanguages, areNumbered: request.transfer.isChunked,
                comparesLengths: !recognition.transcriber.isInstant)
        var documents = input.documents
        if known == nil {
            for index in documents.indices where documents[index].kind == .transcript {
                documents[index] = documents[index].filled(from: transcript)
            }
        }
        let isUnfinished = documents.contains { !$0.status.isFinal }
        if isUnfinished, transcript.status.isUsable, !writing.writer.isInstant {
            return try await store.documents.startNotes(
                job, for: input, heard: heard, documents: documents, at: clock.now)
        }
        for index in documents.indices where !documents[index].status.isFinal {
            documents[index] = try await writing.note(
                documents[index], from: transcript, of: request, input.transaction.key, isLastAttempt: true)
        }
        let outcome = store.policies[request.kind].outcome(of: documents)
        let end = try await store.work.finish(
            job, for: input, heard: heard, documents: documents, outcome: outcome, quality: chunks.quality,
            at: clock.now)
        switch end {
        case .stored: recognition.metrics.transactionProcessed(outcome: outcome.rawValue)
        case .outdated, .obsolete: break
        }
        recognition.faults.forget(input.transaction.key)
    }

    /// Marks all results of the transaction as failed.
    func giveUp(_ job: Job) async throws {
        recognition.faults.forget(job.transaction)
        let diagnostic = Diagnostic(.processingFailed, "The results could not be put together")
        try await store.work.abandon(job, because: diagnostic, at: clock.now)
    }

    /// End of the delay that a fixture or a fault rule sets for the results; nil without a delay.
    private func heldBack(_ input: AssemblyInput) -> Date? {
        guard !input.chunks.isEmpty else { return nil }
        let decision = recognition.faults.decision(for: input.transaction.key, at: clock.wall.now)
        guard !decision.isForced else { return nil }
        let delay = max(
            recognition.fixtureBehaviour.delay(of: input.transaction.request) ?? 0, decision.delay / .seconds(1))
        return delay == 0 ? nil : input.transaction.committedAt?.addingTimeInterval(delay)
    }

    /// Collects the outcomes of all chunks in order. `heard` holds the chunks that this job transcribed.
    private func recognise(
        _ chunks: [CommittedChunk], _ job: Job
    ) async throws -> (outcomes: [ChunkOutcome], heard: [TranscribedChunk]) {
        var outcomes: [ChunkOutcome] = []
        var heard: [TranscribedChunk] = []
        var before: ChunkTimes?
        for chunk in chunks {
            switch chunk {
            case .heard(let outcome):
                before = outcome.times
                outcomes.append(outcome)
            case .unheard(let chunk, let times):
                let result = try await recognition.result(
                    of: chunk, times: times, after: before, job, isLastAttempt: policy.isLastAttempt(job))
                before = times
                outcomes.append(ChunkOutcome(file: chunk.name, times: times, result: result))
                heard.append((chunk, result))
            }
        }
        return (outcomes, heard)
    }
}
