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
    let clock: WorldClock

    /// - Parameter memory: holds the audio that is in no chunk yet.
    package init(
        store: Store, uploads: Uploads, consultations: Consultations, memory: MemoryBudget, clock: WorldClock
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
        let place = try await locate(id, principal, as: segment.map(Names.segment) ?? .numbers)
        return LiveRecording(self, place, options, keepsSilence: keepsSilence, principal)
    }

    /// Where a stream's chunks go.
    struct Place: Sendable {
        let key: Transaction.Key
        let location: AudioLocation
        let language: String?
        /// The number of the next chunk.
        var next: Int
        let names: Names

        var nextName: String {
            switch names {
            case .numbers: "\(next).wav"
            case .segment(let id): AudioSegment.fileName(next, of: id)
            }
        }
    }

    /// What chunks are called.
    enum Names: Sendable {
        case numbers
        case segment(String)
    }

    /// - Throws: as ``open(_:_:segment:keepsSilence:for:)``.
    func locate(
        _ id: TransactionID, _ principal: Principal, as names: Names = .numbers
    ) async throws -> Place {
        let key = Transaction.Key(business: principal.business, id: id)
        let transaction = try await store.requireTransaction(key)
        try Transaction.requireOpen(transaction.userStatus)
        try consultations.bench.permit(.upload, transaction.request.fixture)
        guard let location = transaction.request.audioLocation else {
            throw ScribeError.invalidState("The transaction was started without a place for its audio")
        }
        return Place(
            key: key, location: location, language: transaction.request.inputLanguages.first,
            next: try await firstNumber(names, of: transaction), names: names)
    }

    /// The number of a stream's first chunk: after the highest that is there, or 1 in a segment of its own.
    private func firstNumber(_ names: Names, of transaction: Transaction) async throws -> Int {
        guard case .numbers = names else { return 1 }
        let files = try await store.fileNames(of: transaction) ?? []
        return (files.compactMap { chunkOrdinal(ofFile: $0) }.max() ?? 0) + 1
    }
}
