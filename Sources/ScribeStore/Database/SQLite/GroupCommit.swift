import Basics
import GRDB
import ScribeDomain
import Synchronization

/// Group commit: writes that wait for SQLite's one writer share a SQL transaction. One commit serves them all, and with
/// full durability one sync. Each write is acknowledged after that commit.
///
/// Most batches have no failure, and a savepoint for each write costs as much as the write. So a batch first runs
/// without savepoints. After a failure it is rolled back and runs again with a savepoint per write. A write must
/// therefore be repeatable: its changes and its result follow from the database and its arguments. A write that refuses
/// before it has changed anything fails alone, and the batch goes on.
final class GroupCommit: Sendable {
    /// One write, and the continuation of its caller. Generic code, which asks for metadata at run time, is kept out.
    private final class Write: Sendable {
        private struct Outcome {
            let failure: (any Error)?
            let changes: [Change]
        }

        private let body: @Sendable (Database, inout [Change]) throws -> Void
        private let continuation: CheckedContinuation<Void, any Error>
        private let outcome = Mutex<Outcome?>(nil)

        init(
            _ body: @escaping @Sendable (Database, inout [Change]) throws -> Void,
            _ continuation: CheckedContinuation<Void, any Error>
        ) {
            self.body = body
            self.continuation = continuation
        }

        /// Runs the write. Throws only for a failure that must be undone. The write runs again when another write of
        /// its batch fails.
        func perform(_ db: Database) throws {
            var changes: [Change] = []
            let changedBefore = db.totalChangesCount
            do {
                try body(db, &changes)
                outcome.withLock { [changes] in $0 = Outcome(failure: nil, changes: changes) }
            } catch {
                outcome.withLock { $0 = Outcome(failure: error, changes: []) }
                // A refusal without changes is a result: nothing must be undone.
                guard !(error is DatabaseError), db.totalChangesCount == changedBefore, db.isInsideTransaction else {
                    throw error
                }
            }
        }

        /// Publishes the changes and resumes the caller.
        /// - Parameter error: set when the shared transaction was not committed.
        func finish(_ error: (any Error)?, _ sink: (any ChangeSink)?, path: String) {
            let outcome = outcome.withLock { $0 }
            let unfinished = outcome == nil ? DatabaseError(resultCode: .SQLITE_ABORT) : nil
            // A write's own failure says more than the transaction's, which it may have ended.
            if let failure = outcome?.failure ?? error ?? unfinished {
                return continuation.resume(throwing: StorageFailure.domainError(of: failure, path: path))
            }
            if let sink { for change in outcome?.changes ?? [] { sink.publish(change) } }
            continuation.resume()
        }
    }

    /// Value that a write returns.
    ///
    /// Unchecked: the writer's queue sets the value before it resumes the task that reads it.
    private final class ReturnedValue<Value: Sendable>: @unchecked Sendable {
        var value: Value?
    }

    private struct State {
        var waiting: [Write] = []
        var isDraining = false
        var isClosed = false
    }

    /// Maximum number of writes in a transaction: the first of them waits for the last.
    private static let batchSize = 64

    private let pool: any DatabaseWriter
    private let sink: (any ChangeSink)?
    private let flush: @Sendable () throws -> Void
    private let state = LockedValue(State())

    /// Makes the group commit of a database.
    /// - Parameters:
    ///   - sink: receives the changes of the writes.
    ///   - flush: runs after each commit, before its writes are acknowledged.
    init(
        _ pool: any DatabaseWriter, sink: (any ChangeSink)? = nil, flush: @escaping @Sendable () throws -> Void = {}
    ) {
        self.pool = pool
        self.sink = sink
        self.flush = flush
    }

    /// Runs `body` in a SQL transaction, perhaps twice, and returns its result. A cancellation of the task does not
    /// interrupt the write.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await write { db, _ in try body(db) }
    }

    /// Runs `body` in a SQL transaction, perhaps twice, and publishes its changes after the commit.
    /// - Throws: the error of `body`; ``ScribeError/storageUnavailable`` for a full disk.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, inout [Change]) throws -> Value
    ) async throws -> Value {
        let result = ReturnedValue<Value>()
        try await run { db, changes in result.value = try body(db, &changes) }
        guard let value = result.value else { throw ScribeError.storageUnavailable(cause: "a write did not run") }
        return value
    }

    private func run(_ body: @escaping @Sendable (Database, inout [Change]) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { enqueue(Write(body, $0)) }
    }

    private func enqueue(_ write: Write) {
        let mustDrain: Bool? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.waiting.append(write)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        guard let mustDrain else {
            return write.finish(
                ScribeError.storageUnavailable(cause: "the store is closed"), nil, path: pool.path)
        }
        if mustDrain { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// Refuses new writes. Waiting writes still run, because they precede the close in the writer's queue.
    func close() { state.withLock { $0.isClosed = true } }

    private func drain(_ db: Database) {
        while let batch = next() {
            if batch.count > 1, isDoneTogether(batch, db) { continue }
            var performed: [Write] = []
            do {
                try db.inTransaction(.immediate) {
                    for write in batch {
                        // A full disk makes SQLite roll back the whole transaction: the remaining writes go into
                        // another one.
                        guard db.isInsideTransaction else { break }
                        performed.append(write)
                        if batch.count == 1 {
                            try write.perform(db)
                        } else {
                            // The failing write's caller gets the error; the other writes go on.
                            try? db.inSavepoint {
                                try write.perform(db)
                                return .commit
                            }
                        }
                    }
                    guard db.isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_FULL) }
                    return .commit
                }
                finish(performed[...])
            } catch {
                // The transaction could not begin, so all writes have failed.
                if performed.isEmpty { performed = Array(batch) }
                for write in performed { write.finish(error, sink, path: pool.path) }
            }
            let rest = batch.dropFirst(performed.count)
            if !rest.isEmpty { state.withLock { $0.waiting.insert(contentsOf: rest, at: 0) } }
        }
    }

    /// Runs a batch without savepoints, and resumes the callers. False leaves the database unchanged.
    private func isDoneTogether(_ batch: ArraySlice<Write>, _ db: Database) -> Bool {
        do {
            try db.inTransaction(.immediate) {
                for write in batch { try write.perform(db) }
                return .commit
            }
        } catch {
            return false
        }
        finish(batch)
        return true
    }

    /// Resumes the callers of writes that are committed.
    private func finish(_ writes: ArraySlice<Write>) {
        var failure: (any Error)?
        do { try flush() } catch { failure = error }
        for write in writes { write.finish(failure, sink, path: pool.path) }
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
