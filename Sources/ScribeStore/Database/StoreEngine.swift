import ScribeDomain

/// Database engine of a store: runs the store's operations, each in one SQL transaction.
///
/// The store's statements are the same on every engine. ``StoreSession`` has a function for each place where SQL
/// differs.
protocol StoreEngine: Sendable {
    /// Runs `body` in a SQL transaction, perhaps several times, and publishes its changes after the commit.
    ///
    /// Writes that have a scope in common exclude each other. A cancellation of the task does not interrupt the write.
    /// - Parameter scopes: the parts of the data that `body` reads before it decides.
    /// - Throws: the error of `body`; ``ScribeError/storageUnavailable(cause:)`` if the engine cannot store.
    func write<Value: Sendable>(
        in scopes: [WriteScope], body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value

    /// Runs `body` on a consistent snapshot of the database.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value

    /// Runs `body` in its own SQL transaction, before the server accepts requests. Blocking.
    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws

    /// Size of the database in bytes, including free pages.
    func size(in session: any StoreSession) throws -> Int

    /// Closes all connections, after the waiting writes. Blocking.
    func close() throws

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
