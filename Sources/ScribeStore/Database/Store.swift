import Basics
import Foundation
package import ObjectStorage
package import ScribeDomain

/// Store of all persistent state, in SQLite or PostgreSQL. The operations are in parts by subject, such as ``audio``.
///
/// Database connections never leave this module.
package final class Store: Sendable {
    let database: any StoreEngine
    let transcribesOnArrival: Bool
    let quotas: Quotas
    package let policies: RecordingPolicies
    package let vocabularies: EventVocabularies
    /// Process that claims jobs, lanes and chores.
    package let holder: LeaseHolder
    /// Tenant whose job was claimed last, by kind of job.
    let lastServed = LockedValue<[Job.Kind: String]>([:])
    let requests = RequestCache()
    /// Webhooks of businesses; nil where other processes register them too.
    let webhookCache: WebhookCache?

    /// Place of a store's rows.
    package enum Place: Sendable {
        /// A file of SQLite.
        case file(String, Durability)
        case postgreSQL(PostgreSQLAddress)
    }

    /// Opens the database at a place, creating and migrating it as needed. Blocking.
    ///
    /// Jobs that were running when the process last ended become pending again.
    /// - Parameters:
    ///   - transcribesOnArrival: whether a chunk gets a transcription job when it arrives, so that little work is left
    ///     at commit. Where recognition takes no time, the assembly itself transcribes the chunks.
    ///   - policies: policies of the kinds of recordings that families start.
    ///   - vocabularies: vocabularies of the webhook styles that families register.
    ///   - holder: the process that claims work.
    ///   - sink: receives every change that other tasks may wait for.
    /// - Throws: ``Problem``, or the engine's error.
    package convenience init(
        at place: Place, transcribesOnArrival: Bool = true, quotas: Quotas = Quotas(),
        policies: RecordingPolicies = RecordingPolicies(), vocabularies: EventVocabularies = EventVocabularies(),
        holder: LeaseHolder = .alone(), sink: (any ChangeSink)? = nil
    ) throws {
        let database: any StoreEngine
        switch place {
        case .file(let path, let durability):
            database = try StorageFailure.atStart(path) {
                let database = try SQLiteDatabase(path: path, durability: durability, sink: sink)
                try WorkStore.takeOver(database, for: holder)
                return database
            }
        case .postgreSQL(let address):
            database = try PostgreSQLDatabase(address, isShared: !holder.isAlone, sink: sink)
            try WorkStore.takeOver(database, for: holder)
        }
        self.init(
            database, transcribesOnArrival: transcribesOnArrival, quotas: quotas, policies: policies,
            vocabularies: vocabularies, holder: holder)
    }

    init(
        _ database: any StoreEngine, transcribesOnArrival: Bool, quotas: Quotas, policies: RecordingPolicies,
        vocabularies: EventVocabularies, holder: LeaseHolder = .alone()
    ) {
        self.database = database
        webhookCache = database is SQLiteDatabase ? WebhookCache() : nil
        self.transcribesOnArrival = transcribesOnArrival
        self.quotas = quotas
        self.policies = policies
        self.vocabularies = vocabularies
        self.holder = holder
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await database.read(body)
    }

    /// The store's SQLite database, for operations that PostgreSQL lacks.
    /// - Throws: ``ScribeError/invalidState(_:)`` if the store is in PostgreSQL.
    func requireSQLite() throws -> SQLiteDatabase {
        guard let database = database as? SQLiteDatabase else {
            throw ScribeError.invalidState("A store in PostgreSQL has no snapshots; use the tools of PostgreSQL")
        }
        return database
    }

    /// Settings of the database that risk acknowledged data, each as a sentence. SQLite's are this server's own, and
    /// give none.
    package func risks() async throws -> [String] { try await (database as? PostgreSQLDatabase)?.risks() ?? [] }

    /// Whether other servers may use the same database.
    package var isShared: Bool { !(database is SQLiteDatabase) }

    /// Closes all connections. Blocking.
    package func close() throws { try database.close() }

    package var isClosed: Bool { database.isClosed }

    /// Size of the store: jobs that wait or run, bytes of the database, and number and bytes of the objects.
    package func size() async throws -> (jobs: Int, databaseBytes: Int, objects: Int, objectBytes: Int) {
        try await read { [database] db in
            let row = try db.row(
                """
                SELECT (SELECT count(*) FROM jobs) AS jobs, sum(objects) AS objects, sum(bytes) AS bytes FROM storage
                """)
            guard let row else { return (0, 0, 0, 0) }
            return (
                row["jobs"], try database.size(in: db), row["objects"] as Int? ?? 0, row["bytes"] as Int? ?? 0
            )
        }
    }

    /// Whether the database answers.
    package func isReachable() async -> Bool {
        if let database = database as? PostgreSQLDatabase { return await database.isReachable() }
        return
            (try? await read { [database] db in
                try (database as? SQLiteDatabase)?.requireFile()
                return try db.row("SELECT 1") != nil
            }) ?? false
    }
}

extension Date {
    /// Milliseconds since 1970, as the database stores times.
    var milliseconds: Int64 {
        // Limited to some 95,000 years before and after 1970, beyond any real time.
        Int64(saturating: (min(max(timeIntervalSince1970, -3e12), 3e12) * 1000).rounded())
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
