package import Foundation
package import ScribeDomain

/// A unit of work that this process has claimed.
package struct Job: Hashable, Sendable {
    /// Kind of work, with its word in the database. Each kind has its own slots.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case transcribe
        case assemble
        case note
    }

    package enum Work: Hashable, Sendable {
        /// Transcribes one chunk.
        case transcribe(ChunkToTranscribe)
        /// Makes the results of a committed transaction. The input is nil where it must be read first.
        case assemble(AssemblyInput? = nil)
        /// Writes one note of a transaction whose transcript exists.
        case note(NoteToWrite)

        package var kind: Kind {
            switch self {
            case .transcribe: .transcribe
            case .assemble: .assemble
            case .note: .note
            }
        }
    }

    package let id: Int64
    package let transaction: Transaction.Key
    /// Number of claims, including this one.
    package let attempt: Int
    /// Generation of the transaction that the job was claimed for.
    package let generation: Int64
    package let work: Work
    /// Number of the claim. A write for the job is refused when the row has another number.
    package var claim: Int64 = 0
}

/// Result of claiming jobs.
package enum Claim: Hashable, Sendable {
    /// At least one job.
    case jobs([Job])
    /// No job is due before `until`; nil when none is scheduled.
    case nothing(until: Date?)
}

/// A note to write, with its transcript and request.
package struct NoteToWrite: Hashable, Sendable {
    package let document: ResultDocument
    package let transcript: Transcript
    package let request: TransactionRequest
}

/// A chunk to transcribe, with its languages, model and fixture.
package struct ChunkToTranscribe: Hashable, Sendable {
    package let name: String
    package let file: String
    package let eTag: String
    /// The chunk's number, or its position in the commit, from 1.
    package let ordinal: Int
    /// At most two languages: recognisers do not take more together.
    package let languages: [String]
    package let isLite: Bool
    package let fixture: String?
}

extension ChunkToTranscribe {
    /// Makes a chunk to transcribe from the upload of a file.
    /// - Parameter position: index among the committed files, from 0.
    init(
        _ upload: (file: String, eTag: String), named name: String, position: Int, of request: TransactionRequest
    ) {
        self.init(
            name: name, file: upload.file, eTag: upload.eTag,
            ordinal: (request.transfer.isChunked ? chunkOrdinal(ofFile: name) : nil) ?? position + 1,
            languages: Array(request.inputLanguages.prefix(TransactionRequest.largestLanguageCount)),
            isLite: request.modelType == "lite",
            fixture: request.fixture
        )
    }
}
