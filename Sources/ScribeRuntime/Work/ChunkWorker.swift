import ScribeDomain
import ScribeStore

/// Transcribes chunks, as they arrive or once they are committed.
struct ChunkWorker: Worker {
    let kind = Job.Kind.transcribe
    let recognition: ChunkRecognition
    let policy: WorkPolicy

    func perform(_ job: Job) async throws {
        guard case .transcribe(let chunk) = job.work else { return }
        let result = try await recognition.result(of: chunk, job, isLastAttempt: policy.isLastAttempt(job))
        try await recognition.store.work.finishTranscription(job, of: chunk, result: result, at: recognition.clock.now)
    }

    func giveUp(_ job: Job) async throws {
        guard case .transcribe(let chunk) = job.work else { return }
        let failure = Diagnostic(.transcriptionFailed, "\(chunk.name) was not transcribed")
        try await recognition.store.work.finishTranscription(
            job, of: chunk, result: .failure(failure), at: recognition.clock.now)
    }
}
