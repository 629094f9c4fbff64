import Foundation
package import ScribeDomain

/// Everything that the server remembers, in SQLite. Each method is one thing that happens, in one SQL transaction;
/// the connection never leaves this module.
package final class Store: Sendable {
    let database: SQLiteDatabase
    let transcribesOnArrival: Bool
    let quotas: Quotas
    package let policies: RecordingPolicies
    let vocabularies: EventVocabularies
    /// In whose name jobs, lanes and chores are claimed.
    package let holder: LeaseHolder
    /// The tenant whose job of a kind was claimed last.
    let lastServed = LockedValue<[Job.Kind: String]>([:])
    let requests = RequestCache()

    /// What an acknowledged write survives.
    package enum Durability: String, Sendable, CaseIterable {
        /// The death of the process, by whatever signal.
        case normal
        /// A power cut as well: files and log are synced before the answer.
        case full

        /// What is written or read of a file without asking a thread for it, in bytes: 0 where each write waits for the disk.
        ///
        /// This much goes to the kernel's memory, or comes from it, at once, and a thread would have to be woken twice for it.
        /// See docs/decisions/performance.md.
        package var atOnce: Int { self == .normal ? 64 << 10 : 0 }
    }

    /// Opens the database at `path`, creating and migrating it as needed. Blocking.
    ///
    /// Jobs that were running when the process last ended are made pending again.
    /// - Parameters:
    ///   - transcribesOnArrival: whether a chunk gets a job when it arrives, so that little is left to do at commit. Where
    ///     recognition takes no time, whoever assembles the results hears the chunks as well.
    ///   - policies: of the kinds of recordings that families start.
    ///   - vocabularies: of the styles of webhooks that families register.
    ///   - holder: the process that claims work.
    ///   - sink: gets every change that others may wait for.
    /// - Throws: ``Problem``, or what SQLite says.
    package convenience init(
        path: String, durability: Durability, transcribesOnArrival: Bool = true, quotas: Quotas = Quotas(),
        policies: RecordingPolicies = RecordingPolicies(), vocabularies: EventVocabularies = EventVocabularies(),
        holder: LeaseHolder = .alone(), sink: (any ChangeSink)? = nil
    ) throws {
        do {
            let database = try SQLiteDatabase(path: path, durability: durability, sink: sink)
            try Self.takeOver(database, for: holder)
            self.init(
                database, transcribesOnArrival: transcribesOnArrival, quotas: quotas, policies: policies,
                vocabularies: vocabularies, holder: holder)
        } catch {
            throw StorageFailure.problem(of: error, path: path)
        }
    }

    init(
        _ database: SQLiteDatabase, transcribesOnArrival: Bool, quotas: Quotas, policies: RecordingPolicies,
        vocabularies: EventVocabularies, holder: LeaseHolder = .alone()
    ) {
        self.database = database
        self.transcribesOnArrival = transcribesOnArrival
        self.quotas = quotas
        self.policies = policies
        self.vocabularies = vocabularies
        self.holder = holder
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSession) throws -> Value) async throws -> Value {
        try await database.read(body)
    }

    /// Closes all connections. Blocking.
    package func close() throws { try database.close() }

    package var isClosed: Bool { database.isClosed }

    /// How much there is: jobs waiting or running, the database's own bytes, and the uploads'.
    package func size() async throws -> (jobs: Int, databaseBytes: Int, objects: Int, objectBytes: Int) {
        try await read { db in
            let row = try db.row(
                """
                SELECT (SELECT count(*) FROM jobs) AS jobs, sum(objects) AS objects, sum(bytes) AS bytes FROM storage
                """)
            guard let row else { return (0, 0, 0, 0) }
            return (
                row["jobs"], try SQLiteDatabase.size(in: db), row["objects"] as Int? ?? 0, row["bytes"] as Int? ?? 0
            )
        }
    }

    /// Whether the database answers.
    package func isReachable() async -> Bool {
        (try? await read { try $0.row("SELECT 1") != nil }) ?? false
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
