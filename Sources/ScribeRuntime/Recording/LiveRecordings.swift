package import Basics
package import Engines
import Foundation
package import ScribeDomain
package import ScribeStore

/// Opens live streams of transactions. A stream stores its audio as chunks and its results as their transcripts; its
/// end commits the transaction.
package struct LiveRecordings: Sendable {
    let store: Store
    let uploads: Uploads
    let transactions: Transactions
    let memory: MemoryBudget
    let clock: WorldClock

    /// - Parameter memory: The budget for audio that is in no chunk yet.
    package init(
        store: Store, uploads: Uploads, transactions: Transactions, memory: MemoryBudget, clock: WorldClock
    ) {
        self.memory = memory
        self.store = store
        self.uploads = uploads
        self.transactions = transactions
        self.clock = clock
    }

    /// Begins a stream, or resumes one that broke off. Its chunks get the numbers after the last stored chunk.
    /// - Parameters:
    ///   - segment: Stream id, to name the stream's chunks `<id>-<number>.wav`; nil to continue the transaction's
    ///     numbers.
    ///   - keepsSilence: Whether one-minute chunks without speech are stored too.
    /// - Throws: ``ScribeError/transactionNotFound``; ``ScribeError/invalidState(_:)`` if the recording has ended, or
    ///   if the transaction has no place for audio.
    package func open(
        _ id: TransactionID, _ options: LiveOptions, segment: String? = nil, keepsSilence: Bool = true,
        for principal: Principal
    ) async throws -> LiveRecording {
        let place = try await locate(id, principal, segment: segment)
        return LiveRecording(self, place, options, keepsSilence: keepsSilence, principal)
    }

    /// Transaction, bucket and folder of a stream's chunks, with the number of the next one.
    struct ChunkDestination: Sendable {
        let key: Transaction.Key
        let location: AudioLocation
        /// The first spoken language of the transaction; nil if it names none.
        let language: String?
        /// The number of the next chunk.
        var next: Int
        /// The id of the stream, which the chunks have in their names; nil for names such as `3.wav`.
        let segment: String?

        var nextName: String { segment.map { AudioSegment.fileName(next, of: $0) } ?? "\(next).wav" }
    }

    /// Reads bucket, folder and next chunk number of an open transaction from the database.
    /// - Throws: As ``open(_:_:segment:keepsSilence:for:)``.
    func locate(
        _ id: TransactionID, _ principal: Principal, segment: String? = nil
    ) async throws -> ChunkDestination {
        let key = Transaction.Key(business: principal.business, id: id)
        let transaction = try await store.transactions.requireTransaction(key)
        try Transaction.requireOpen(transaction.userStatus)
        try transactions.fixtureBehaviour.requirePermission(.upload, transaction.request.fixture)
        guard let location = transaction.request.audioLocation else {
            throw ScribeError.invalidState("The transaction was started without a place for its audio")
        }
        return ChunkDestination(
            key: key, location: location, language: transaction.request.inputLanguages.first,
            next: try await segment == nil ? nextNumber(of: transaction) : 1, segment: segment)
    }

    /// One more than the highest stored number of a chunk.
    private func nextNumber(of transaction: Transaction) async throws -> Int {
        let files = try await store.audio.fileNames(of: transaction) ?? []
        return (files.compactMap { chunkOrdinal(ofFile: $0) }.max() ?? 0) + 1
    }
}
