import Basics
import Foundation
import GRDB
import GRDBSQLite
import ObjectStorage
import SQLiteMemory
import ScribeDomain
import SystemPackage

/// SQLite database: a file with a pool of readers and one writer, or a database in memory with a single connection.
final class SQLiteDatabase: StoreEngine {
    /// Connections of GRDB.
    let pool: any DatabaseWriter
    let isInMemory: Bool
    let writes: GroupCommit
    /// Part of the memory of all databases in memory; nil for a file.
    private let memory: WorldMemory.Share?
    /// The file that was opened; nil for a database in memory.
    private let file: OpenedFile?
    private let hasClosed = LockedValue(false)

    /// Oldest usable SQLite: 3.38 is the first with `->>`, which history uses.
    private static let oldestSQLite = 3_038_000

    /// Requires a version of SQLite that the store can use.
    /// - Parameter number: SQLite's version number, for example 3038000 for 3.38.0.
    static func check(sqlite number: Int, called version: String) throws(Store.Problem) {
        guard number >= oldestSQLite else { throw .olderSQLite(version: version) }
    }

    private static let countsMemory = sqlite_stop_counting_memory() != SQLITE_OK

    /// Checks SQLite's version, and sets what a process sets once, before it first opens a database.
    /// - Throws: as ``check(sqlite:called:)``.
    static func prepareLibrary() throws(Store.Problem) {
        // A process that has opened a database counts on, which costs time alone.
        _ = countsMemory
        try check(sqlite: Int(sqlite3_libversion_number()), called: String(cString: sqlite3_libversion()))
    }

    /// Opens the file at `path`, and creates or migrates its schema. Blocking.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    convenience init(path: String, durability: Durability, sink: (any ChangeSink)?) throws {
        try Self.prepareLibrary()
        let pool = try Self.pool(path: path, durability: durability)
        try SQLiteSchema.prepare(pool)
        // SQLite of macOS has no F_FULLFSYNC: its `fullfsync` is a barrier, which keeps the order of writes alone.
        var flush: (@Sendable () throws -> Void)?
        if durability == .full, !OperatingSystem.fsyncReachesDisk {
            flush = { try FileSystem.syncFile(at: "\(path)-wal") }
        }
        self.init(pool, sink: sink, flush: flush)
    }

    /// Uses a database that is already open.
    /// - Parameters:
    ///   - pool: a database that has the schema.
    ///   - memory: the memory that its rows share; nil for a file.
    ///   - flush: see ``GroupCommit``.
    init(
        _ pool: any DatabaseWriter, memory: WorldMemory? = nil, sink: (any ChangeSink)?,
        flush: (@Sendable () throws -> Void)? = nil
    ) {
        self.memory = memory?.share()
        self.pool = pool
        isInMemory = pool is DatabaseQueue
        let file = isInMemory ? nil : OpenedFile(pool.path)
        self.file = file
        writes = GroupCommit(pool, sink: sink) {
            try file?.requireStillThere()
            try flush?()
        }
    }

    /// Makes the schema in the file at `path`, or migrates it, and copies the log to the file. Blocking.
    ///
    /// A new file is written beside its path, and is not synced: SQLite would sync it nine times. A kill leaves the
    /// file beside the path, which the next call replaces.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    static func makeSchema(in path: String) throws {
        guard FileSystem.size(ofFile: path) ?? 0 > 0 else { return try makeFile(at: path) }
        let database = try SQLiteDatabase(path: path, durability: .normal, sink: nil)
        // A pool closes its writer before its readers, so that SQLite leaves the log as it is at the end.
        try database.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try database.close()
    }

    /// Makes a file with the schema, in WAL mode. GRDB asks what each statement reads and writes, which would take
    /// longer than the statements.
    private static func makeFile(at path: String) throws {
        try prepareLibrary()
        let new = "\(path).new"
        // SQLite would make a file that others can read.
        try FileSystem.naming(new) { try FileSystem.newFile(new, .truncate).close() }
        try run(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
            \(SQLiteSchema.script)
            PRAGMA journal_mode = WAL;
            """, inFileAt: new)
        guard rename(new, path) == 0 else { throw FileSystem.Failure(Errno(rawValue: errno), at: path) }
    }

    private static func run(_ script: String, inFileAt path: String) throws {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        var code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        if code == SQLITE_OK { code = sqlite3_exec(connection, script, nil, nil, nil) }
        guard code == SQLITE_OK else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: connection.map { String(cString: sqlite3_errmsg($0)) })
        }
    }

    private static func pool(path: String, durability: Durability) throws -> DatabasePool {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        // More readers than cores are slower, see docs/decisions/libraries.md.
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            // The log is copied at 32 MB, not 4, so that pages which change often are copied once. Temporary data stay
            // in memory: otherwise a savepoint would copy each changed page to a file. See docs/decisions/storage.md.
            try db.execute(
                sql: "PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 8000; PRAGMA temp_store = MEMORY")
            if !db.configuration.readonly { try SQLiteSchema.prepareWriting(db) }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // Not in `prepareDatabase`: the later switch to WAL would reset the value to NORMAL.
        let synchronous = durability == .full ? "FULL; PRAGMA fullfsync = ON" : "NORMAL"
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(synchronous)") }
        return pool
    }

    /// Runs `body` in a SQL transaction, see ``GroupCommit``. SQLite has one writer, and ignores the scopes.
    func write<Value: Sendable>(
        in scopes: [WriteScope], body: @escaping @Sendable (any StoreSession, inout [Change]) throws -> Value
    ) async throws -> Value {
        try await writes.write { [self] db, changes in
            let value = try body(db.writing, &changes)
            try countMemory(of: db)
            return value
        }
    }

    /// Requires what ``OpenedFile/requireStillThere()`` does. Blocking.
    func requireFile() throws(ScribeError) { try file?.requireStillThere() }

    /// Counts the memory of the pages of a database in memory, without a statement.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` where there is no room for them.
    func countMemory(of database: Database) throws {
        guard let memory else { return }
        var (used, most): (CInt, CInt) = (0, 0)
        sqlite3_db_status(database.sqliteConnection, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0)
        try memory.resize(to: Int(used))
    }

    /// Runs `body` on a consistent snapshot of the database. Blocking.
    func readBlocking<Value>(_ body: (any StoreSession) throws -> Value) throws -> Value {
        do {
            return try pool.read { try body($0.reading) }
        } catch {
            throw StorageFailure.domainError(of: error, path: pool.path)
        }
    }

    func writeBlocking(_ body: (any StoreSession) throws -> Void) throws {
        try pool.write { try body($0.writing) }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await StorageFailure.translatingErrors(path: pool.path) {
            guard isInMemory else { return try await pool.read { try body($0.reading) } }
            // The single connection needs no isolation. A read after `close` is refused here: GRDB would use a
            // connection that is gone.
            return try await pool.writeWithoutTransaction { [self] db in
                guard !isClosed else { throw ScribeError.storageUnavailable(cause: "the store is closed") }
                return try body(db.reading)
            }
        }
    }

    func size(in session: any StoreSession) throws -> Int {
        try session.row("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")?["bytes"]
            ?? 0
    }

    func close() throws {
        writes.close()
        hasClosed.withLock { $0 = true }
        try pool.close()
    }

    var isClosed: Bool { hasClosed.withLock { $0 } }
}
