import GRDB
import ScribeDomain

/// Writes that wait for the one writer at the same time share a SQL transaction: one commit, and under full durability one
/// sync, serves them all. Each is acknowledged once that commit has succeeded.
///
/// Most batches have no failure in them, and a savepoint for each write costs as much as the write. So they are done
/// without first; when one fails all is rolled back and done again, each in a savepoint of its own. A write must
/// therefore be repeatable: what it does and returns follows from the database and from what it was given. A write that
/// refuses before it has changed anything fails alone: it is told so, and the batch goes on.
final class GroupCommit: Sendable {
    /// One write: what it does, and who waits for it.
    private struct Write: Sendable {
        /// Throws only for a failure that has to be undone. Runs again when another write of its batch fails.
        let perform: @Sendable (Database) throws -> Void
        /// Ends the wait; with an error when the shared transaction was not committed.
        let finish: @Sendable ((any Error)?) -> Void
    }

    private struct State {
        var waiting: [Write] = []
        var isDraining = false
        var isClosed = false
    }

    /// How many share a transaction at most: the first of them waits for the last.
    private static let batchSize = 64

    private let pool: any DatabaseWriter
    private let sink: (any ChangeSink)?
    private let state = LockedValue(State())

    /// - Parameter sink: gets what the writes change.
    init(_ pool: any DatabaseWriter, sink: (any ChangeSink)? = nil) {
        self.pool = pool
        self.sink = sink
    }

    /// Runs `body` in a SQL transaction, perhaps twice, and returns what it returns. It is not cut off when its task is
    /// cancelled.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { db, _ in try body(db) }
    }

    /// The same for a `body` that changes what others wait for: they are told when it is stored.
    /// - Throws: what `body` throws; ``ScribeError/storageUnavailable`` for a full disk.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [Change]) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let result = LockedValue<(outcome: Result<Value, any Error>, changes: [Change])?>(nil)
            enqueue(
                Write(
                    perform: { db in
                        var changes: [Change] = []
                        let changedBefore = db.totalChangesCount
                        let outcome = Result { try body(db, &changes) }
                        result.withLock { [changes] in $0 = (outcome, changes) }
                        guard case .failure(let error) = outcome else { return }
                        // A refusal that has changed nothing is a result: there is nothing to undo.
                        guard !(error is DatabaseError), db.totalChangesCount == changedBefore, db.isInsideTransaction
                        else {
                            throw error
                        }
                    },
                    finish: { [sink] error in
                        guard let (outcome, changes) = result.withLock({ $0 }) else {
                            let error = error ?? DatabaseError(resultCode: .SQLITE_ABORT)
                            return continuation.resume(throwing: StorageFailure.domainError(of: error))
                        }
                        switch outcome {
                        case .success(let value) where error == nil:
                            if let sink { for change in changes { sink.publish(change) } }
                            continuation.resume(returning: value)
                        // Its own failure says more than that of the transaction which it may have ended.
                        case .success:
                            continuation.resume(throwing: error.map(StorageFailure.domainError) ?? CancellationError())
                        case .failure(let own):
                            continuation.resume(throwing: StorageFailure.domainError(of: own))
                        }
                    }
                )
            )
        }
    }

    private func enqueue(_ write: Write) {
        let mustDrain: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.waiting.append(write)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        guard let mustDrain else { return write.finish(ScribeError.storageUnavailable(cause: "the store is closed")) }
        if mustDrain { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// Refuses writes from now on. Those that wait are done before the database is closed, for they are before that in
    /// the writer's queue.
    func close() { state.withLock { $0.isClosed = true } }

    private func drain(_ db: Database) {
        while let batch = next() {
            if batch.count > 1, isDoneTogether(batch, db) { continue }
            var performed: [Write] = []
            do {
                try db.inTransaction(.immediate) {
                    for write in batch {
                        // A full disk makes SQLite roll the whole transaction back: what follows goes into another one.
                        guard db.isInsideTransaction else { break }
                        performed.append(write)
                        if batch.count == 1 {
                            try write.perform(db)
                        } else {
                            // Who waits for it is told why it failed; the others go on.
                            try? db.inSavepoint {
                                try write.perform(db)
                                return .commit
                            }
                        }
                    }
                    guard db.isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_FULL) }
                    return .commit
                }
                for write in performed { write.finish(nil) }
            } catch {
                // When not even the transaction could begin, all of them have failed.
                if performed.isEmpty { performed = Array(batch) }
                for write in performed { write.finish(error) }
            }
            let rest = batch.dropFirst(performed.count)
            if !rest.isEmpty { state.withLock { $0.waiting.insert(contentsOf: rest, at: 0) } }
        }
    }

    /// Does all of them without savepoints, and tells them so. False leaves nothing behind.
    private func isDoneTogether(_ batch: ArraySlice<Write>, _ db: Database) -> Bool {
        do {
            try db.inTransaction(.immediate) {
                for write in batch { try write.perform(db) }
                return .commit
            }
        } catch {
            return false
        }
        for write in batch { write.finish(nil) }
        return true
    }

    private func next() -> ArraySlice<Write>? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isDraining = false
                return nil
            }
            let batch = state.waiting.prefix(Self.batchSize)
            state.waiting.removeFirst(batch.count)
            return batch
        }
    }
}
