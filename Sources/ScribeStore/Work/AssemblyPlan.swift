package import ScribeDomain

/// Result of planning an assembly: whether the results of a committed transaction can be made now.
package enum AssemblyPlan: Hashable, Sendable {
    /// Audio or transcripts are missing. The job is pending until a file or a transcript wakes it, or the wait for
    /// audio ends.
    case waiting
    /// No file is awaited any more, and no chunk is being transcribed.
    case ready(AssemblyInput)
    /// The transaction was cancelled, deleted or finished meanwhile. Its job is removed.
    case obsolete
}

/// Input of an assembly: a committed transaction with its chunks and documents.
package struct AssemblyInput: Hashable, Sendable {
    package let transaction: Transaction
    /// Committed files, in spoken order.
    package let chunks: [CommittedChunk]
    package let documents: [ResultDocument]
    /// Generation of the transaction when the input was read.
    package let generation: Int64
}

/// Outcome of storing the results of an assembly.
package enum AssemblyEnd: Hashable, Sendable {
    case stored
    /// The input has changed since the assembly began. Nothing is stored, and the job runs again.
    case outdated
    /// The transaction was cancelled or deleted meanwhile, or another process has the job. Nothing is stored.
    case obsolete
}

/// Committed file: with its transcription result, or still to be transcribed.
package enum CommittedChunk: Hashable, Sendable {
    case heard(ChunkOutcome)
    /// Chunk that the assembly itself must transcribe, see ``Store/transcribesOnArrival``.
    case unheard(ChunkToTranscribe, times: ChunkTimes?)
}

/// Chunk with the result of its transcription.
package typealias TranscribedChunk = (chunk: ChunkToTranscribe, result: Result<RecognisedSpeech, Diagnostic>)
