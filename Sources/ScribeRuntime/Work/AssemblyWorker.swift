import Engines
import Foundation
import ScribeDomain
import ScribeStore

/// Puts the results of a transaction together: the transcript first, which some clients wait for alone (C-34), when notes
/// take their time, then a note for each requested template.
struct AssemblyWorker: Worker {
    let kind = Job.Kind.assemble
    let hearing: ChunkHearing
    let writing: NoteWriting
    let policy: WorkPolicy

    private var store: Store { hearing.store }
    private var clock: WorldClock { hearing.clock }

    func perform(_ job: Job) async throws {
        switch try await plan(job) {
        // While something is missing the job is a row and nothing else: it holds no slot.
        case .waiting, .obsolete: break
        case .ready(let input):
            if let time = heldBack(input), clock.now < time {
                // Put back, so that it takes the place of no other transaction meanwhile.
                return try await store.postpone(job, until: time, countsAttempt: false)
            }
            try await putTogether(input, job)
        }
    }

    private func plan(_ job: Job) async throws -> AssemblyPlan {
        if case .assemble(let input?) = job.work { return .ready(input) }
        return try await store.planAssembly(job, objectWait: policy.objectWait / .seconds(1), at: clock.now)
    }

    private func putTogether(_ input: AssemblyInput, _ job: Job) async throws {
        let (chunks, heard) = try await hear(input.chunks, job)
        let known = input.documents.first { $0.kind == .transcript && $0.status.isFinal }
        let request = input.transaction.request
        let transcript =
            known.map(Transcript.init(of:)) ?? Transcript(stitching: chunks, languages: request.inputLanguages)
        var documents = input.documents
        if known == nil {
            for index in documents.indices where documents[index].kind == .transcript {
                documents[index] = documents[index].filled(from: transcript)
            }
        }
        let isUnfinished = documents.contains { !$0.status.isFinal }
        if isUnfinished, transcript.status.isUsable, !writing.writer.isInstant {
            return try await store.startNotes(job, for: input, heard: heard, documents: documents, at: clock.now)
        }
        for index in documents.indices where !documents[index].status.isFinal {
            documents[index] = try await writing.note(
                documents[index], from: transcript, of: request, input.transaction.key, isLastAttempt: true)
        }
        let outcome = outcome(of: documents)
        let end = try await store.finish(
            job, for: input, heard: heard, documents: documents, outcome: outcome, quality: chunks.quality,
            at: clock.now)
        switch end {
        case .stored: hearing.metrics.transactionProcessed(outcome: outcome.rawValue)
        case .outdated, .obsolete: break
        }
    }

    /// The results cannot be put together: says so in them.
    func giveUp(_ job: Job) async throws {
        let diagnostic = Diagnostic(.processingFailed, "The results could not be put together")
        try await store.abandon(job, because: diagnostic, at: clock.now)
    }

    /// Until when the results are held back on purpose; nil when they are not.
    private func heldBack(_ input: AssemblyInput) -> Date? {
        guard !input.chunks.isEmpty, let delay = hearing.bench.delay(of: input.transaction.request) else { return nil }
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
                let result = try await hearing.result(
                    of: chunk, times: times, after: before, job, isLastAttempt: policy.isLastAttempt(job))
                before = times
                outcomes.append(ChunkOutcome(file: chunk.name, times: times, result: result))
                heard.append((chunk, result))
            }
        }
        return (outcomes, heard)
    }

    /// A failure that a further commit may cure is the system's; one that lies in the audio is the request's.
    private func outcome(of documents: [ResultDocument]) -> Transaction.ProcessingStatus {
        guard documents.outcome == .failure else { return .success }
        return documents.contains { $0.errors.contains(where: \.isCurable) } ? .systemFailure : .requestFailure
    }
}
