import Basics
import Engines
import Foundation
import Logging
import ObjectStorage
import ScribeDomain
import ScribeStore

/// Transcribes chunks with the recogniser of their transaction: a fixture's own, or the configured one.
struct ChunkRecognition: Sendable {
    let store: Store
    let objects: any ObjectStore
    let transcriber: any Transcriber
    let fixtureBehaviour: FixtureBehaviour
    let faults: FaultRules
    let templates: TemplateCatalogue
    let metrics: Metrics
    let clock: WorldClock
    let logger: Logger

    /// Transcribes one chunk.
    /// - Parameters:
    ///   - times: start and end of the chunk's speech.
    ///   - timesBefore: start and end of the previous chunk's speech.
    ///   - isLastAttempt: whether a failure now is final for the chunk.
    /// - Returns: the speech, or the diagnostic of a final failure.
    /// - Throws: an error that another attempt may avoid.
    func result(
        of chunk: ChunkToTranscribe, times: ChunkTimes? = nil, after timesBefore: ChunkTimes? = nil, _ job: Job,
        isLastAttempt: Bool
    ) async throws -> Result<RecognisedSpeech, Diagnostic> {
        func ended(_ result: Result<RecognisedSpeech, Diagnostic>) -> Result<RecognisedSpeech, Diagnostic> {
            objects.received?.drop([chunk.file])
            return result
        }
        let transcriber =
            chunk.fixture.flatMap(fixtureBehaviour.transcriber) ?? fixtureBehaviour.transcriberByHash ?? transcriber
        let recording = Recording(
            StoredAudio(file: chunk.file, objects: objects), ordinal: chunk.ordinal, times: times,
            timesBefore: timesBefore, languages: chunk.languages, isLite: chunk.isLite, isLastAttempt: isLastAttempt,
            tenant: job.transaction.business.rawValue, vocabulary: { try await vocabulary(of: job.transaction) }
        )
        let decision = faults.decision(for: job.transaction, at: clock.wall.now)
        switch decision.recognition {
        case .failure(let code):
            return ended(.failure(Diagnostic(code, "\(chunk.name): a fault rule says so", cause: decision.cause)))
        case .empty: return ended(.success(.nothing(decision.cause)))
        case .result(let text): return ended(.success(chunk.ordinal > 1 ? .nothingMore : .says(text)))
        case .delay, nil: break
        }
        let start = clock.wall.now
        let result: Result<RecognisedSpeech, Diagnostic>
        do {
            result = .success(try await transcriber.transcribe(recording))
        } catch let failure as EngineFailure {
            if failure.origin == .refusal || failure.isRetryable && !isLastAttempt { throw failure }
            logger.notice(
                "a chunk was not transcribed",
                metadata: ["txn_id": "\(job.transaction.id.logged)", "error": "\(failure.logged)"])
            result = .failure(Diagnostic(failure.code, "\(chunk.name) was not transcribed"))
        }
        metrics.chunkTranscribed(
            by: transcriber.name, outcome: result.outcomeWord, seconds: clock.wall.now.timeIntervalSince(start)
        )
        return ended(result)
    }

    /// Vocabulary of the templates that the transaction requests.
    private func vocabulary(of key: Transaction.Key) async throws -> [String] {
        guard let request = try await store.transactions.transaction(key)?.request else { return [] }
        var words: [String] = []
        for requested in templates.requested(by: request) {
            let template = try await templates.template(requested.id, of: key.business, in: store)
            words += (template ?? templates.fallback).vocabulary
        }
        return words.removingDuplicates()
    }
}

extension RecognisedSpeech {
    /// Speech of a recording in which nothing was said.
    fileprivate static func nothing(_ cause: Diagnostic.Cause) -> RecognisedSpeech {
        RecognisedSpeech(
            text: "", warnings: [Diagnostic(.noSpeech, "A fault rule hears nothing", cause: cause)], quality: 0,
            duration: 0)
    }
    /// Chunks after the one that says everything.
    fileprivate static let nothingMore = RecognisedSpeech(text: "", quality: 1, confidence: 1, duration: 0)

    fileprivate static func says(_ text: String) -> RecognisedSpeech {
        RecognisedSpeech(text: text, quality: 1, confidence: 1)
    }
}

extension Result where Failure == Diagnostic {
    /// Metric label: `success`, or the code of the failure.
    fileprivate var outcomeWord: String {
        switch self {
        case .success: "success"
        case .failure(let diagnostic): diagnostic.code.rawValue
        }
    }
}
