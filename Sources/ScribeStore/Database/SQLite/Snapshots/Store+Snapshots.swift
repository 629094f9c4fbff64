package import Foundation
import GRDB
package import NIOPosix
package import ObjectStorage
package import ScribeDomain

/// Snapshots of a store.
extension Store {
    /// Writes the rows of a snapshot into a fresh database, and links the files that they refer to. All rows are as of
    /// one moment. Other writes go on meanwhile, unless the rows are in memory.
    /// - Parameters:
    ///   - snapshot: an empty folder.
    ///   - objects: the files of the rows.
    ///   - owner: the namespace's own client.
    ///   - identifiers: those that the namespace has made, read after its rows.
    ///   - now: time of the snapshot.
    /// - Throws: the error of SQLite or of the file system.
    package func save(
        in snapshot: SnapshotFolder, _ objects: any ObjectStore, owner: SnapshotOwner?, _ identifiers: WorldIdentifiers,
        at now: Date, on threads: NIOThreadPool
    ) async throws -> SnapshotManifest {
        let database = try requireSQLite()
        return try await StorageFailure.translatingErrors {
            try await objects.keepingAll {
                try await threads.runIfActive {
                    try snapshot.makeDatabase().close()
                }
                try await database.exportRows(to: snapshot.databasePath, on: threads)
                let files = try await threads.runIfActive { try snapshot.files() }
                guard files.count <= SnapshotManifest.maxFiles else {
                    throw SnapshotProblem.tooManyFiles(limit: SnapshotManifest.maxFiles)
                }
                try await objects.lend(files.map(\.name), to: snapshot.objectsFolder)
                return try await threads.runIfActive {
                    var digests: [String: String] = [:]
                    for file in files where file.digest == nil {
                        digests[file.name] = try FileDigest.md5(ofFile: snapshot.path(of: file.name))
                    }
                    let manifest = SnapshotManifest(
                        createdAt: now, owner: owner, files: files, digests: digests,
                        identifiers: identifiers.counts)
                    try snapshot.write(manifest)
                    return manifest
                }
            }
        }
    }

    /// Fills an empty store from a snapshot.
    /// - Parameters:
    ///   - objects: takes the files of the rows.
    ///   - owner: the own client of the namespace of this store, in place of the one in the snapshot; nil for the
    ///     default namespace, whose demo client gets the rows if it has none of its own.
    /// - Returns: The snapshot's manifest.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)`` where rows in memory find no room; the error of SQLite or
    ///   of the file system.
    package func restore(
        _ snapshot: SnapshotFolder, _ objects: any ObjectStore, owner: SnapshotOwner?, demo: SnapshotOwner,
        on threads: NIOThreadPool
    ) async throws -> SnapshotManifest {
        let database = try requireSQLite()
        return try await StorageFailure.translatingErrors {
            let (manifest, files) = try await threads.runIfActive { (try snapshot.manifest(), try snapshot.files()) }
            try await objects.adopt(files.map(\.name), from: snapshot.objectsFolder)
            try await database.importRows(
                from: snapshot.databasePath, old: manifest.owner, new: owner ?? demo, isExclusive: owner == nil)
            return manifest
        }
    }
}

extension SQLiteDatabase {
    /// Copies the rows of a snapshot to a database file that has the schema and no rows.
    fileprivate func exportRows(to path: String, on threads: NIOThreadPool) async throws {
        guard isInMemory else {
            // A connection of its own, so that neither writes nor reads of the server wait.
            return try await threads.runIfActive { [source = pool.path] in
                let queue = try DatabaseQueue(path: path)
                defer { try? queue.close() }
                try queue.writeWithoutTransaction { db in
                    try Self.attached(source, as: "source", to: db) {
                        try SnapshotTables.copy(in: db, from: "source", to: "main")
                    }
                }
            }
        }
        try await pool.barrierWriteWithoutTransaction { db in
            try Self.attached(path, as: "snapshot", to: db) {
                try SnapshotTables.copy(in: db, from: "main", to: "snapshot")
            }
        }
    }

    /// Copies the rows of a snapshot into this database, which has none.
    /// - Parameters:
    ///   - old: the client of the namespace that was saved.
    ///   - new: the client that gets its rows.
    ///   - isExclusive: whether that client gets them only if the snapshot has no rows of its own.
    fileprivate func importRows(
        from path: String, old: SnapshotOwner?, new: SnapshotOwner, isExclusive: Bool
    ) async throws {
        try await pool.barrierWriteWithoutTransaction { [self] db in
            try Self.attached(path, as: "snapshot", to: db) {
                var owners: [(old: SnapshotOwner, new: SnapshotOwner)] = []
                if let old, old != new, try !isExclusive || !Self.holds(new.business, in: db) {
                    owners.append((old, new))
                }
                try SnapshotTables.copy(in: db, from: "snapshot", to: "main", owners: owners)
                try countMemory(of: db)
            }
        }
    }

    /// Whether a snapshot has rows of a business.
    private static func holds(_ business: String, in db: Database) throws -> Bool {
        let tables = ["storage", "transactions", "conversations", "templates", "preferences", "memories"]
        let places = tables.map { "SELECT 1 FROM snapshot.\($0) WHERE business_id = ?1" }
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS (\(places.joined(separator: " UNION ALL ")))", arguments: [business]) ?? false
    }

    /// Runs a transaction while another database is attached.
    private static func attached(_ path: String, as name: String, to db: Database, _ body: () throws -> Void) throws {
        try db.execute(sql: "ATTACH DATABASE ? AS \(name)", arguments: [path])
        defer { try? db.execute(sql: "DETACH DATABASE \(name)") }
        // Not immediate: that would lock the source for writes, too.
        try db.inTransaction(.deferred) {
            try body()
            return .commit
        }
    }
}
