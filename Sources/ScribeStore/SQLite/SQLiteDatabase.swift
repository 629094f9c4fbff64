import GRDB
import GRDBSQLite
import ScribeDomain

/// A database of SQLite: a file that a pool of connections reads while one of them writes, or one in memory with a
/// single connection.
final class SQLiteDatabase: Sendable {
    /// GRDB's connections.
    let pool: any DatabaseWriter
    private let isInMemory: Bool
    let writes: GroupCommit
    private let hasClosed = LockedValue(false)

    /// The first with `->>`, which history uses: 3.38.
    private static let oldestSQLite = 3_038_000

    /// - Parameter number: as SQLite counts its versions, for example 3038000 for 3.38.0.
    static func check(sqlite number: Int, called version: String) throws(Store.Problem) {
        guard number >= oldestSQLite else { throw .olderSQLite(version: version) }
    }

    /// Opens the file at `path`, and creates or migrates its schema. Blocking.
    /// - Throws: ``Store/Problem``, or what SQLite says.
    convenience init(path: String, durability: Store.Durability, sink: (any ChangeSink)?) throws {
        try Self.check(sqlite: Int(sqlite3_libversion_number()), called: String(cString: sqlite3_libversion()))
        let pool = try Self.pool(path: path, durability: durability)
        try Schema.prepare(pool)
        self.init(pool, sink: sink)
    }

    /// - Parameter pool: a database that has the schema.
    init(_ pool: any DatabaseWriter, sink: (any ChangeSink)?) {
        self.pool = pool
        isInMemory = pool is DatabaseQueue
        writes = GroupCommit(pool, sink: sink)
    }

    private static func pool(path: String, durability: Store.Durability) throws -> DatabasePool {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        // More readers than cores are slower, see docs/decisions/libraries.md.
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            // 32 MB of log, not 4, before it is copied: pages that change again and again are copied once. What undoes a
            // savepoint stays in memory: each page that is changed would be copied to a file elsewhere. See
            // docs/decisions/storage.md.
            try db.execute(
                sql: "PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 8000; PRAGMA temp_store = MEMORY")
            if !db.configuration.readonly { try Schema.prepareWriting(db) }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // Not while the connection is prepared: switching to WAL sets it back to NORMAL afterwards.
        let synchronous = durability == .full ? "FULL" : "NORMAL"
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
        return pool
    }

    /// Runs `body` in a SQL transaction, see ``GroupCommit``.
    ///
    /// - Parameter scopes: the parts of the data that `body` reads before it decides, at least one. The one writer of
    ///   SQLite needs no more than that they are named.
    func write<Value: Sendable>(
        _ scopes: WriteScope..., body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value {
        try await writes.write { db, changes in
            let value = try body(db.writing, &changes)
            try Self.count(changes, in: db.writing)
            return value
        }
    }

    /// Counts the changes of transactions in their rows, so that a kept answer can be compared with them.
    private static func count(_ changes: [Change], in session: any StoreSession) throws {
        var counted: Transaction.Key?
        for case .transaction(let key) in changes where key != counted {
            counted = key
            try session.run(
                "UPDATE transactions SET changes = changes + 1 WHERE business_id = ? AND txn_id = ?",
                [key.business.rawValue, key.id.rawValue])
        }
    }

    /// The same for a `body` that changes nothing that others wait for.
    func write<Value: Sendable>(
        _ scopes: WriteScope..., body: @escaping @Sendable (any StoreSession) throws -> Value
    ) async throws -> Value {
        try await writes.write { db in try body(db.writing) }
    }

    /// Runs `body` in a SQL transaction of its own, before the server has begun. Blocking.
    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws {
        try pool.write { try body($0.writing) }
    }

    /// Runs `body` on a state of the database that no write changes meanwhile.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await StorageFailure.explained {
            guard isInMemory else { return try await pool.read { try body($0.reading) } }
            // The one connection has nothing to be isolated from. What comes after it was closed is refused here: the
            // library would read through a connection that is gone.
            return try await pool.writeWithoutTransaction { [self] db in
                guard !isClosed else { throw ScribeError.storageUnavailable(cause: "the store is closed") }
                return try body(db.reading)
            }
        }
    }

    /// The bytes of the file, free pages included.
    static func size(in session: any StoreSession) throws -> Int {
        try session.row("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")?["bytes"]
            ?? 0
    }

    /// Closes all connections, after the writes that wait. Blocking.
    func close() throws {
        writes.close()
        hasClosed.withLock { $0 = true }
        try pool.close()
    }

    var isClosed: Bool { hasClosed.withLock { $0 } }
}
