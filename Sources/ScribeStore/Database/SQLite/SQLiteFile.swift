import Basics
package import Foundation
import GRDB

/// Reads, checks and copies database files without opening a store. All functions block. Only
/// ``copy(_:to:filesSQL:link:)`` accepts a file that a server uses.
package enum SQLiteFile {
    /// Makes the schema in a database file.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    package static func makeSchema(in path: String) throws {
        try StorageFailure.atStart(path) { try SQLiteDatabase.makeSchema(in: path) }
    }

    /// Copies a database, also one that a server writes to.
    /// - Parameters:
    ///   - filesSQL: a query for the names of the files that rows refer to.
    ///   - link: called once, before the copy, unless the file has no schema. Calling its argument begins the read
    ///     transaction that the copy shares, and returns the names. Link the files before returning.
    /// - Returns: the names, or nil where the file has no schema, and whether the file is empty.
    /// - Throws: the error of `link`, ``Store/Problem``, or SQLite's error.
    package static func copy(
        _ path: String, to target: String, filesSQL: String, link: (_ files: () throws -> [String]) throws -> [String]
    ) throws -> (files: [String]?, isEmpty: Bool) {
        try StorageFailure.atStart(path) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(30)
            let source = try DatabaseQueue(path: path, configuration: configuration)
            let copy = try DatabaseQueue(path: target)
            defer { for queue in [source, copy] { try? queue.close() } }
            return try source.writeWithoutTransaction { source in
                // GRDB ends the program if a connection is left in a transaction.
                defer { if source.isInsideTransaction { try? source.execute(sql: "ROLLBACK") } }
                guard try source.tableExists("objects") else {
                    let tables = try Int.fetchOne(source, sql: "SELECT COUNT(*) FROM sqlite_master") ?? 0
                    let id = try Int.fetchOne(source, sql: "PRAGMA application_id") ?? 0
                    return (nil, tables == 0 && id == 0)
                }
                let files = try link {
                    try source.execute(sql: "BEGIN")
                    return try String.fetchAll(source, sql: filesSQL)
                }
                try copy.writeWithoutTransaction { try source.backup(to: $0) }
                return (files, false)
            }
        }
    }

    /// Result of the check of a database copy.
    package enum Content {
        case intact(files: [String])
        /// A later version of this program wrote the database.
        case newer
        case damaged(reason: String)
        /// The disk has no room for the check.
        case full
        case unreadable
    }

    /// Checks a database's integrity and version, and reads its file names. Takes as long as SQLite's
    /// `integrity_check`.
    package static func content(of path: String, filesSQL: String) throws -> Content {
        do {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            let verdict = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
            guard verdict == "ok" else { return .damaged(reason: verdict ?? "no database") }
            if try queue.read(SQLiteSchema.isNewer) { return .newer }
            return .intact(files: try queue.read { try String.fetchAll($0, sql: filesSQL) })
        } catch let error as DatabaseError {
            return error.resultCode == .SQLITE_FULL ? .full : .unreadable
        }
    }

    /// Whether the database at `path` has rows beside those of the schema itself. False without a database; true for a
    /// file of another program, and for one that cannot be read.
    package static func holdsRows(in path: String) -> Bool {
        guard FileSystem.size(ofFile: path) ?? 0 > 0 else { return false }
        do {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            return try queue.read { db in
                switch try SQLiteSchema.origin(of: db) {
                case .nothing: return false
                case .newer, .foreign: return true
                case .ours:
                    let tables = try String.fetchAll(
                        db,
                        sql: """
                            SELECT name FROM sqlite_schema
                            WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name != 'state'
                            """)
                    return try tables.contains { table in
                        try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table))") == true
                    }
                }
            }
        } catch {
            return true
        }
    }

    /// Whether the database at `path` has valid refresh tokens. False without a database.
    /// - Throws: ``Store/Problem``, or SQLite's error.
    package static func holdsRefreshTokens(in path: String, at now: Date) throws -> Bool {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        guard let size, size > 0 else { return false }
        return try StorageFailure.atStart(path) {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            return try queue.read { db in
                guard try db.tableExists("refresh_tokens") else { return false }
                return try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM refresh_tokens WHERE expires_at > ?)",
                    arguments: [now.milliseconds]) ?? false
            }
        }
    }
}
