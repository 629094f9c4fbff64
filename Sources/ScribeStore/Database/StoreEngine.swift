import ScribeDomain

/// Database engine of a store: runs the store's operations, each in one SQL transaction.
///
/// The store's statements are the same on every engine. ``StoreSession`` has a function for each place where SQL
/// differs. Only ``Store`` and its extensions call an engine, from any thread, and many calls at once. A `body` runs on
/// a thread of the engine, synchronously, and must not wait for another call of the engine: that would never end.
protocol StoreEngine: Sendable {
    /// Runs `body` in a SQL transaction, perhaps several times, and publishes its changes after the commit.
    ///
    /// Writes that have a scope in common exclude each other. A cancellation of the task does not interrupt the write.
    /// On return the changes are committed, and as durable as ``Durability`` says.
    /// - Parameters:
    ///   - scopes: the parts of the data that `body` reads before it decides.
    ///   - body: the statements, which use the session and append to the changes. All that they do follows from the
    ///     database and from captured values, because `body` may run again. Its changes are undone if it throws.
    /// - Returns: the result of the run of `body` that was committed.
    /// - Throws: the error of `body`; ``ScribeError/storageUnavailable(cause:)`` if the engine cannot store, is closed,
    ///   or cannot be reached for 15 seconds.
    func write<Value: Sendable>(
        in scopes: [WriteScope], body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value

    /// Runs `body` on a consistent snapshot of the database, which has each write that returned before the call.
    ///
    /// On PostgreSQL `body` may run several times. A cancellation of the task may end the read early, and need not.
    /// - Parameter body: statements that read. Its session and rows are valid until `body` returns.
    /// - Throws: the error of `body`; ``ScribeError/storageUnavailable(cause:)`` as of ``write(in:body:)``;
    ///   `CancellationError`.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value

    /// Runs `body` in its own SQL transaction, before the server accepts requests. Blocking. No changes are published.
    /// - Throws: the error of `body`; the engine's own error.
    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws

    /// Size of the database in bytes, including free pages.
    /// - Parameter session: the session of a `body` that is running.
    /// - Throws: the engine's own error.
    func size(in session: any StoreSession) throws -> Int

    /// Closes all connections, after the waiting writes. Blocking. Later calls throw
    /// ``ScribeError/storageUnavailable(cause:)``.
    func close() throws

    /// Whether ``close()`` was called.
    var isClosed: Bool { get }
}

extension StoreEngine {
    /// Runs `body` in a SQL transaction, see ``write(in:body:)``.
    func write<Value: Sendable>(
        _ scope: WriteScope, _ others: WriteScope...,
        body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value {
        try await write(in: [scope] + others, body: body)
    }

    /// Runs `body` in a SQL transaction, without changes that other tasks wait for.
    func write<Value: Sendable>(
        _ scope: WriteScope, _ others: WriteScope..., body: @escaping @Sendable (any StoreSession) throws -> Value
    ) async throws -> Value {
        try await write(in: [scope] + others) { db, _ in try body(db) }
    }
}
