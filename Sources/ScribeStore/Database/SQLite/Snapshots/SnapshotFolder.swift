import Basics
import Crypto
import Foundation
import GRDB
import ObjectStorage
import SystemPackage

/// A snapshot on disk: a manifest, a database of the fresh schema, and the files that its rows refer to.
package struct SnapshotFolder: Hashable, Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package var manifestPath: String { "\(path)/manifest.json" }
    package var databasePath: String { "\(path)/scribe.sqlite" }
    package var objectsFolder: String { "\(path)/objects" }

    package func path(of file: String) -> String { "\(objectsFolder)/\(file)" }

    /// Makes the folders. Blocking.
    /// - Throws: `FileSystem.Failure`.
    package func make() throws {
        for folder in [path, objectsFolder] { try FileSystem.naming(folder) { try FileSystem.makeFolder(folder) } }
    }

    /// Makes the empty database. Blocking.
    func makeDatabase() throws -> DatabaseQueue {
        try FileSystem.newFile(databasePath, .exclusiveCreate).close()
        let queue = try DatabaseQueue(path: databasePath)
        try SQLiteSchema.prepare(queue)
        return queue
    }

    /// Writes the manifest. Blocking.
    func write(_ manifest: SnapshotManifest) throws {
        let file = try FileSystem.newFile(manifestPath, .exclusiveCreate)
        try file.closeAfter { _ = try file.writeAll(manifest.json()) }
    }

    /// Reads the manifest. Blocking.
    /// - Throws: ``SnapshotProblem/foreign`` or ``SnapshotProblem/newer``.
    package func manifest() throws -> SnapshotManifest {
        guard let data = FileManager.default.contents(atPath: manifestPath) else { throw SnapshotProblem.foreign }
        return try SnapshotManifest(json: data)
    }

    /// Names, sizes and digests of the files that rows refer to. Blocking.
    /// - Throws: SQLite's error.
    package func files() throws -> [SnapshotFile] {
        let queue = try DatabaseQueue(path: databasePath)
        defer { try? queue.close() }
        return try queue.read { try SnapshotTables.files(in: $0) }
    }

    /// Checks a snapshot that came from elsewhere: database and files are as this program writes them. A snapshot of an
    /// earlier schema is migrated. Blocking.
    /// - Throws: ``SnapshotProblem``.
    package func check() throws {
        let manifest = try manifest()
        do {
            try requireSchema(ofVersion: manifest.schema)
            let queue = try DatabaseQueue(path: databasePath)
            defer { try? queue.close() }
            try queue.read { db in
                let verdict = try String.fetchAll(db, sql: "PRAGMA integrity_check(1)")
                guard verdict == ["ok"] else { throw SnapshotProblem.damaged("the database is not whole") }
                do {
                    try db.checkForeignKeys()
                } catch {
                    throw SnapshotProblem.damaged("a row refers to one that is missing")
                }
                for table in SnapshotTables.left where table != "state" && table != "storage" {
                    let isEmpty =
                        try Int.fetchOne(db, sql: "SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT 1)") == 0
                    guard isEmpty else { throw SnapshotProblem.damaged("it has rows that no snapshot holds") }
                }
            }
            try SQLiteSchema.prepare(queue)
            try checkFiles(try queue.read { try SnapshotTables.files(in: $0) }, manifest)
        } catch let error as DatabaseError {
            guard error.resultCode != .SQLITE_FULL else { throw StorageFailure.domainError(of: error) }
            throw SnapshotProblem.damaged("the database cannot be read")
        }
    }

    /// Requires that the schema is ours, to the byte, before any statement uses it.
    private func requireSchema(ofVersion version: Int) throws {
        let queue = try DatabaseQueue(path: databasePath, configuration: Self.careful)
        defer { try? queue.close() }
        let parts = try queue.read { try SQLiteSchema.parts(in: $0) }
        guard try parts == SQLiteSchema.parts(ofVersion: version) else { throw SnapshotProblem.foreign }
    }

    private func checkFiles(_ files: [SnapshotFile], _ manifest: SnapshotManifest) throws {
        let there = try FileManager.default.contentsOfDirectory(atPath: objectsFolder)
        let names = Set(files.map(\.name))
        guard names.count == files.count, Set(there) == names else {
            throw SnapshotProblem.damaged("its files are not those that its rows name")
        }
        guard manifest.objects == files.count, manifest.bytes == files.total(\.size) else {
            throw SnapshotProblem.damaged("its manifest counts other files")
        }
        for file in files {
            guard FileSystem.size(ofFile: path(of: file.name)) == file.size else {
                throw SnapshotProblem.damaged("a file has another size than its row says")
            }
            let digest: String
            do {
                digest = try FileDigest.md5(ofFile: path(of: file.name))
            } catch is FileSystem.Failure {
                throw SnapshotProblem.damaged("a file is missing")
            }
            guard let wanted = file.digest ?? manifest.digests[file.name], digest == wanted else {
                throw SnapshotProblem.damaged("a file has another MD5 than its row says")
            }
        }
    }

    /// Settings of a connection that reads the schema of a database that anybody may have written.
    private static var careful: Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            // With `writable_schema` a schema that does not parse, or that an untrusted one may not use, is still read
            // as text.
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF; PRAGMA writable_schema = ON; PRAGMA query_only = ON;
                    PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0
                    """)
        }
        return configuration
    }
}

/// A snapshot cannot be used.
package enum SnapshotProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is no snapshot of this program.
    case foreign
    /// A later version of this program wrote the snapshot.
    case newer
    /// Reason for people, without text from the file.
    case damaged(String)
    /// The file is larger than the storage quota.
    case beyondQuota(limit: Int)
    case unknown
    /// Another call changes the snapshot or the namespace.
    case busy
    /// The namespace has its most snapshots.
    case tooMany(limit: Int)
    case tooManyFiles(limit: Int)

    package var description: String {
        switch self {
        case .foreign: "the file is no snapshot; take one that snapshot export has written"
        case .newer:
            "a later version of scribe-emulator wrote the snapshot; take that version"
        case .damaged(let reason): "the snapshot is damaged, \(reason); export it again"
        case .beyondQuota(let limit):
            "the snapshot is larger than the storage quota of \(limit) bytes; raise --storage-quota"
        case .unknown: "there is no such snapshot in this namespace; GET /__admin/snapshots lists them"
        case .busy: "another call changes this namespace; try again"
        case .tooManyFiles(let limit): "a snapshot has at most \(limit) uploads; delete some"
        case .tooMany(let limit): "the namespace has \(limit) snapshots already; delete some"
        }
    }
}
