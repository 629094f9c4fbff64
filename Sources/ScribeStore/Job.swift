package import Foundation
package import ScribeDomain

/// A piece of work that was claimed and is now this process's to do.
package struct Job: Hashable, Sendable {
    /// What is done, by the word that it has in the database. Each kind has room of its own to be done in.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case transcribe
        case assemble
        case note
    }

    package enum Work: Hashable, Sendable {
        /// Transcribe one chunk.
        case transcribe(ChunkToTranscribe)
        /// Put the results of a committed transaction together, of this if it is known already.
        case assemble(AssemblyInput? = nil)
        /// Write one note of a transaction whose transcript is there.
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
    /// How often it was claimed, this time included.
    package let attempt: Int
    /// Which of the transaction's commits it was claimed for.
    package let generation: Int64
    package let work: Work
    /// The number of the claim: what is stored for the job must still have it.
    package var claim: Int64 = 0
}

/// What there is to do.
package enum Claim: Hashable, Sendable {
    /// At least one.
    case jobs([Job])
    /// Nothing is due; nil when nothing will be by itself.
    case nothing(until: Date?)
}

/// A note that is still to be written, and what it is made from.
package struct NoteToWrite: Hashable, Sendable {
    package let document: ResultDocument
    package let transcript: Transcript
    package let request: TransactionRequest
}

/// A chunk and what is to be known of it to transcribe it.
package struct ChunkToTranscribe: Hashable, Sendable {
    package let name: String
    package let file: String
    package let eTag: String
    /// The chunk's number, or its position in the commit, from 1.
    package let ordinal: Int
    /// Two at most: more are not recognised together.
    package let languages: [String]
    package let isLite: Bool
    package let fixture: String?
}

extension ChunkToTranscribe {
    /// - Parameter position: among the files that were committed, from 0.
    init(
        _ upload: (file: String, eTag: String), named name: String, position: Int, of request: TransactionRequest
    ) {
        self.init(
            name: name, file: upload.file, eTag: upload.eTag, ordinal: chunkOrdinal(ofFile: name) ?? position + 1,
            languages: Array(request.inputLanguages.prefix(TransactionRequest.largestLanguageCount)),
            isLite: request.modelType == "lite",
            fixture: request.fixture
        )
    }
}
