import Foundation
import GRDB
import GRDBSQLite
package import ScribeDomain

/// Everything that the server remembers, in SQLite. Each method is one thing that happens, in one SQL transaction;
/// the connection never leaves this module.
package final class Store: Sendable {
    /// A pool of connections to a file, or the one connection to a database in memory.
    let pool: any DatabaseWriter
    private let isInMemory: Bool
    let writes: GroupCommit
    let transcribesOnArrival: Bool
    let quotas: Quotas
    package let policies: RecordingPolicies
    let vocabularies: EventVocabularies
    /// The tenant whose job of a kind was claimed last.
    let lastServed = LockedValue<[Job.Kind: String]>([:])
    let requests = RequestCache()
    private let hasClosed = LockedValue(false)

    /// What an acknowledged write survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The death of the process, by whatever signal.
        case normal
        /// A power cut as well: files and log are synced before the answer.
        case full

        /// What is written or read of a file without asking a thread for it, in bytes: 0 where each write waits for the disk.
        ///
        /// This much goes to the kernel's memory, or comes from it, at once, and a thread would have to be woken twice for it.
        /// See docs/decisions.md.
        package var atOnce: Int { self == .normal ? 64 << 10 : 0 }
    }

    /// The first with `->>`, which history uses: 3.38.
    private static let oldestSQLite = 3_038_000

    /// - Parameter number: as SQLite counts its versions, for example 3038000 for 3.38.0.
    static func check(sqlite number: Int, called version: String) throws(Problem) {
        guard number >= oldestSQLite else { throw .olderSQLite(version: version) }
    }

    /// Opens the database at `path`, creating and migrating it as needed. Blocking.
    ///
    /// Jobs that were running when the process last ended are made pending again.
    /// - Parameters:
    ///   - transcribesOnArrival: whether a chunk gets a job when it arrives, so that little is left to do at commit. Where
    ///     recognition takes no time, whoever assembles the results hears the chunks as well.
    ///   - policies: of the kinds of recordings that families start.
    ///   - vocabularies: of the styles of webhooks that families register.
    ///   - sink: gets every change that others may wait for.
    /// - Throws: ``Problem``, or what SQLite says.
    package convenience init(
        path: String, durability: Durability, transcribesOnArrival: Bool = true, quotas: Quotas = Quotas(),
        policies: RecordingPolicies = RecordingPolicies(), vocabularies: EventVocabularies = EventVocabularies(),
        sink: (any ChangeSink)? = nil
    ) throws {
        try Self.check(sqlite: Int(sqlite3_libversion_number()), called: String(cString: sqlite3_libversion()))
        do {
            let pool = try Self.pool(path: path, durability: durability)
            try Schema.prepare(pool)
            try pool.write { db in
                try db.run("UPDATE jobs SET state = 'pending' WHERE state = 'running'")
                try db.run("UPDATE deliveries SET state = 'pending' WHERE state = 'sending'")
            }
            self.init(
                pool, transcribesOnArrival: transcribesOnArrival, quotas: quotas, policies: policies,
                vocabularies: vocabularies, sink: sink)
        } catch {
            throw Problem.explained(error, path: path)
        }
    }

    init(
        _ pool: any DatabaseWriter, transcribesOnArrival: Bool, quotas: Quotas, policies: RecordingPolicies,
        vocabularies: EventVocabularies, sink: (any ChangeSink)?
    ) {
        self.pool = pool
        isInMemory = pool is DatabaseQueue
        self.transcribesOnArrival = transcribesOnArrival
        self.quotas = quotas
        self.policies = policies
        self.vocabularies = vocabularies
        writes = GroupCommit(pool, sink: sink)
    }

    private static func pool(path: String, durability: Durability) throws -> DatabasePool {
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(5)
        // More readers than cores are slower, see docs/decisions.md.
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            // 32 MB of log, not 4, before it is copied: pages that change again and again are copied once. What undoes a
            // savepoint stays in memory: each page that is changed would be copied to a file elsewhere. See
            // docs/decisions.md.
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

    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await StorageFailure.explained {
            guard isInMemory else { return try await pool.read(body) }
            // The one connection has nothing to be isolated from. What comes after it was closed is refused here: the
            // library would read through a connection that is gone.
            return try await pool.writeWithoutTransaction { [self] db in
                guard !isClosed else { throw ScribeError.storageUnavailable(cause: "the store is closed") }
                return try body(db)
            }
        }
    }

    /// Closes all connections. Blocking.
    package func close() throws {
        writes.close()
        hasClosed.withLock { $0 = true }
        try pool.close()
    }

    package var isClosed: Bool { hasClosed.withLock { $0 } }

    /// How much there is: jobs waiting or running, the database's own bytes, and the uploads'.
    package func size() async throws -> (jobs: Int, databaseBytes: Int, objects: Int, objectBytes: Int) {
        try await read { db in
            let row = try db.row(
                """
                SELECT (SELECT count(*) FROM jobs) AS jobs, total(objects) AS objects, total(bytes) AS bytes,
                    (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) AS pages
                FROM storage
                """
            )
            guard let row else { return (0, 0, 0, 0) }
            return (row["jobs"], row["pages"], Int(row["objects"] as Double), Int(row["bytes"] as Double))
        }
    }

    /// Whether the database answers.
    package func isReachable() async -> Bool {
        (try? await read { try $0.row("SELECT 1") != nil }) ?? false
    }
}

extension Database {
    /// Runs one statement, prepared once per connection.
    func run(_ sql: String, _ arguments: StatementArguments = []) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension Date {
    /// As stored.
    var milliseconds: Int64 {
        // Within a hundred thousand years, which is more than anybody means.
        Int64((min(max(timeIntervalSince1970, -3e12), 3e12) * 1000).rounded())
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
