import GRDB
package import ScribeDomain

/// Template of databases in memory: an empty one that is copied. Making the schema each time would take several times
/// as long.
package final class StoreImage: Sendable {
    private let image: DatabaseQueue
    private let memory: WorldMemory

    /// Makes the schema. Blocking.
    /// - Parameter memory: the memory that the rows of all stores of this image take. A write beyond its limit is
    ///   ``ScribeError/storageUnavailable(cause:)``.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    package init(memory: WorldMemory = WorldMemory(limit: .max)) throws {
        self.memory = memory
        try SQLiteDatabase.prepareLibrary()
        image = try DatabaseQueue(configuration: Self.configuration)
        try SQLiteSchema.prepare(image)
    }

    /// Makes a store in memory, which ends when it is closed. Blocking.
    /// - Parameters: as in
    ///   ``Store/init(at:transcribesOnArrival:quotas:policies:vocabularies:holder:sink:)``.
    /// - Throws: SQLite's error.
    package func store(
        transcribesOnArrival: Bool, quotas: Quotas = Quotas(), policies: RecordingPolicies = RecordingPolicies(),
        vocabularies: EventVocabularies = EventVocabularies(), sink: (any ChangeSink)? = nil
    ) throws -> Store {
        let queue = try DatabaseQueue(configuration: Self.configuration)
        try image.backup(to: queue)
        return Store(
            SQLiteDatabase(queue, memory: memory, sink: sink), transcribesOnArrival: transcribesOnArrival,
            quotas: quotas, policies: policies, vocabularies: vocabularies)
    }

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // Small pages, because most tables of such a store have few rows or none.
            try db.execute(
                sql: """
                    PRAGMA page_size = 1024; PRAGMA foreign_keys = ON; PRAGMA cache_size = -256;
                    PRAGMA temp_store = MEMORY; PRAGMA secure_delete = ON
                    """)
        }
        return configuration
    }
}
