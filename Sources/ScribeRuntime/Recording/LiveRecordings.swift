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
        let place = try await locate(id, principal, as: segment.map(ChunkNaming.segment) ?? .numbers)
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
        let names: ChunkNaming

        var nextName: String {
            switch names {
            case .numbers: "\(next).wav"
            case .segment(let id): AudioSegment.fileName(next, of: id)
            }
        }
    }

    /// Naming scheme of chunks.
    enum ChunkNaming: Sendable {
        /// By the transaction's running number, such as `3.wav`.
        case numbers
        /// By the id of the stream and a number of its own.
        case segment(String)
    }

    /// Reads bucket, folder and next chunk number of an open transaction from the database.
    /// - Throws: As ``open(_:_:segment:keepsSilence:for:)``.
    func locate(
        _ id: TransactionID, _ principal: Principal, as names: ChunkNaming = .numbers
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
            next: try await firstNumber(names, of: transaction), names: names)
    }

    /// The number of a stream's first chunk: one more than the highest stored number, or 1 for names by stream id.
    private func firstNumber(_ names: ChunkNaming, of transaction: Transaction) async throws -> Int {
        guard case .numbers = names else { return 1 }
        let files = try await store.audio.fileNames(of: transaction) ?? []
        return (files.compactMap { chunkOrdinal(ofFile: $0) }.max() ?? 0) + 1
    }
}
