package import Basics
package import ScribeDomain
import ScribeStore

/// Operators' calls about single transactions.
package struct TransactionControl: Sendable {
    private let runtime: Runtime

    package init(_ runtime: Runtime) { self.runtime = runtime }

    private var store: Store { runtime.store }

    /// Finds a transaction by its id.
    /// - Parameter business: nil for any business.
    /// - Throws: ``ScribeError/transactionNotFound``; ``ScribeError/invalidState(_:)`` where several have the id.
    package func key(of id: TransactionID, in business: BusinessID?) async throws -> Transaction.Key {
        let keys = try await store.transactions.transactionKeys(of: id).filter {
            business == nil || $0.business == business
        }
        guard let key = keys.first else { throw ScribeError.transactionNotFound }
        guard keys.count == 1 else {
            throw ScribeError.invalidState("Several businesses have this id; name one with ?business=")
        }
        return key
    }

    /// Commits a transaction with the files that have arrived.
    /// - Throws: ``ScribeError/invalidState(_:)`` for one that only its own API ends.
    package func commit(_ key: Transaction.Key) async throws {
        let transaction = try await store.transactions.requireTransaction(key)
        guard transaction.userStatus.isOpen else {
            throw ScribeError.invalidState("It is \(transaction.userStatus.rawValue) already")
        }
        guard !runtime.policies[transaction.request.kind].endsByOwnAPIOnly else {
            throw ScribeError.invalidState("Such a recording ends by its own API only")
        }
        let files = try await files(of: transaction)
        try await store.transactions.commit(key, ChunkList(files: files), at: runtime.clock.now, refusing: [])
    }

    private func files(of transaction: Transaction) async throws -> [String] {
        let names = try await store.audio.fileNames(of: transaction) ?? []
        let numbered = names.compactMap { name in chunkOrdinal(ofFile: name).map { ($0, name) } }
        return numbered.isEmpty ? names : numbered.sorted { $0 < $1 }.map(\.1)
    }

    /// Cancels a transaction, as its client may.
    package func cancel(_ key: Transaction.Key) async throws {
        var patch = TransactionPatch()
        patch.isCancellation = true
        _ = try await runtime.transactions.patch(key, patch)
    }

    /// Ends a transaction with results of the operator's choice.
    /// - Throws: ``ScribeError/invalidState(_:)`` for one whose results are there, and as ``commit(_:)``.
    package func end(_ key: Transaction.Key, with results: FaultRules.PipelineDecision) async throws {
        let transaction = try await store.transactions.requireTransaction(key)
        guard transaction.processingStatus == .inProgress else {
            throw ScribeError.invalidState("Its results are final: \(transaction.processingStatus.rawValue)")
        }
        runtime.faults.force(results, for: key)
        do {
            if transaction.userStatus == .committed {
                try await store.work.wakeAssembly(of: key, at: runtime.clock.now)
            } else {
                if try await files(of: transaction).isEmpty, let location = transaction.request.audioLocation {
                    try await runtime.uploadSilence(to: location, in: key, for: transaction.owner)
                }
                try await commit(key)
            }
        } catch {
            runtime.faults.forget(key)
            throw error
        }
    }

    /// Waits until a transaction is final.
    /// - Returns: The transaction as it is then, or at the end of the longest wait.
    package func wait(
        for key: Transaction.Key, atMost limit: Duration, until clientDisconnect: OneShotSignal
    ) async throws -> (transaction: Transaction, documents: [ResultDocument]) {
        try await runtime.transactions.results(of: key, atMost: limit, until: clientDisconnect) {
            $0.transaction.isFinal(with: $0.documents)
        }
    }

    /// Removes a transaction with its results and audio.
    /// - Throws: ``ScribeError/invalidState(_:)`` for one that only its own API removes.
    package func remove(_ key: Transaction.Key) async throws {
        let kind = try await store.transactions.requireTransaction(key).request.kind
        guard !runtime.policies[kind].isRemovedByOwnAPIOnly else {
            throw ScribeError.invalidState("Such a recording is deleted by its own API only")
        }
        let files = try await store.transactions.removeTransaction(key)
        runtime.faults.forget(key)
        await runtime.uploads.remove(files)
    }
}
