package import Engines
import Foundation
package import ScribeDomain
package import ScribeStore

/// Live streams that are consultations: their audio becomes chunks, what is heard in them the text of those, and their end
/// the commit.
package struct LiveRecordings: Sendable {
    let store: Store
    let uploads: Uploads
    let consultations: Consultations
    let memory: MemoryBudget
    let clock: ScribeClock

    /// - Parameter memory: holds the audio that is in no chunk yet.
    package init(
        store: Store, uploads: Uploads, consultations: Consultations, memory: MemoryBudget, clock: ScribeClock
    ) {
        self.memory = memory
        self.store = store
        self.uploads = uploads
        self.consultations = consultations
        self.clock = clock
    }

    /// Begins a stream, or goes on with one that was broken off: its chunks are numbered after those that are there.
    /// - Parameters:
    ///   - segment: what its chunks are named after instead, where streams are told apart.
    ///   - keepsSilence: whether minutes in which nobody speaks are kept too.
    /// - Throws: ``ScribeError/transactionNotFound``, ``ScribeError/invalidState(_:)`` once recording has ended, or where
    ///   the transaction has no place for audio.
    package func open(
        _ id: TransactionID, _ options: LiveOptions, segment: String? = nil, keepsSilence: Bool = true,
        for principal: Principal
    ) async throws -> LiveRecording {
        var place = try await locate(id, principal)
        if let segment { place.names = .segment(segment) }
        return LiveRecording(self, place, options, keepsSilence: keepsSilence, principal)
    }

    /// Where a stream's chunks go.
    struct Place: Sendable {
        let key: Transaction.Key
        let location: AudioLocation
        let language: String?
        /// The number of the next chunk.
        var next: Int
        var names = Names.numbers

        var nextName: String {
            switch names {
            case .numbers: "\(next).wav"
            case .segment(let id): AmbientSegment.fileName(next, of: id)
            }
        }
    }

    /// What chunks are called.
    enum Names: Sendable {
        case numbers
        case segment(String)
    }

    func locate(_ id: TransactionID, _ principal: Principal) async throws -> Place {
        let key = Transaction.Key(business: principal.business, id: id)
        guard let transaction = try await store.transaction(key) else { throw ScribeError.transactionNotFound }
        guard transaction.userStatus.isOpen else {
            throw ScribeError.invalidState("The transaction takes no more audio")
        }
        guard let location = transaction.request.audioLocation, let names = try await store.fileNames(of: transaction)
        else { throw ScribeError.invalidState("The transaction was started without a place for its audio") }
        return Place(
            key: key, location: location, language: transaction.request.inputLanguages.first,
            next: (names.compactMap { chunkOrdinal(ofFile: $0) }.max() ?? 0) + 1)
    }
}
