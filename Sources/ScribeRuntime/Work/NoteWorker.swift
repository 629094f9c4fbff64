import ScribeDomain
import ScribeStore

/// Writes one note per job, for note writers that take time.
struct NoteWorker: Worker {
    let kind = Job.Kind.note
    let writing: NoteWriting
    let policy: WorkPolicy

    func perform(_ job: Job) async throws {
        guard case .note(let note) = job.work else { return }
        let document = try await writing.note(
            note.document, from: note.transcript, of: note.request, job.transaction,
            isLastAttempt: policy.isLastAttempt(job))
        _ = try await writing.store.documents.finishNote(job, note, as: document, at: writing.clock.now)
    }

    func giveUp(_ job: Job) async throws {
        guard case .note(let note) = job.work else { return }
        let failed = note.document.failed(Diagnostic(.noteFailed, "The note could not be written"))
        _ = try await writing.store.documents.finishNote(job, note, as: failed, at: writing.clock.now)
    }
}
