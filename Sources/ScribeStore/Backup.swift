import Foundation
import GRDB
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One file that holds everything of a data folder: the database, the uploads and the signing key, as a tar archive.
package enum Backup {
    package enum Problem: Error, CustomStringConvertible {
        case noDatabase(folder: String)
        /// The first start of this version was killed while it moved the data of an earlier one.
        case halfMoved(folder: String)
        case notABackup(file: String)
        /// Written by a later version of this program.
        case newerBackup(file: String)
        /// The database has no folder with uploads.
        case noObjects(path: String)
        case damaged(reason: String)
        case noSuchPath(String)
        case isFolder(String)
        case notWritable(String)
        case tarFailed

        package var description: String {
            switch self {
            case .noDatabase(let folder): "there is no scribe-emulator data in \(folder)"
            case .halfMoved(let folder):
                "\(folder) is from an earlier version, and a start was killed while it moved the data; start the server again"
            case .notABackup(let file): "\(file) is no backup of scribe-emulator"
            case .newerBackup(let file):
                "\(file) was written by a later version of scribe-emulator; restore it with that version"
            case .noObjects(let path):
                "\(path) cannot be read; it belongs to the database beside it, so put it back first"
            case .damaged(let reason): "the backup is damaged: \(reason)"
            case .noSuchPath(let path): "\(path) does not exist"
            case .isFolder(let path): "\(path) is a folder; name a file"
            case .notWritable(let path): "\(path) cannot be written by this user; name a file in another folder"
            case .tarFailed: "tar could not do it: is it installed, and is there room?"
            }
        }
    }

    /// What a backup holds.
    package struct Summary: Sendable {
        package let objects: Int
    }

    /// Writes a backup of `folder` to `file`, while a server may be using the folder. Blocking.
    ///
    /// Everything is as of one moment. Uploads are linked, not copied, until they are in the archive.
    /// - Parameters:
    ///   - name: of a temporary folder; no other backup has it.
    ///   - secrets: names of files with the keys of families.
    package static func write(folder: String, to file: String, name: String, secrets: [String]) throws -> Summary {
        let (state, hold) = try held(in: folder)
        let parent = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard isFolder(parent) else { throw Problem.noSuchPath(parent) }
        guard !isFolder(file) else { throw Problem.isFolder(file) }
        let staging = "\(DataFolder.Layout(path: folder).work)/backup-\(name)"
        defer { try? FileManager.default.removeItem(atPath: staging) }
        try FileManager.default.createDirectory(
            atPath: "\(staging)/objects", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        // A server that starts meanwhile empties the folder above.
        let staged = try FolderLock(staging, LOCK_EX)
        defer { staged.release() }
        let objects: Int
        do {
            defer { hold.release() }
            objects = try copy(state.database, to: "\(staging)/scribe.sqlite", objects: state.objects) {
                try link($0, of: state.objects, into: staging)
            }
        } catch {
            throw Store.Problem.explained(error, path: state.database)
        }
        for key in [DataFolder.signingKey] + secrets where FileManager.default.fileExists(atPath: "\(folder)/\(key)") {
            try FileManager.default.copyItem(atPath: "\(folder)/\(key)", toPath: "\(staging)/\(key)")
        }
        let partial = "\(file).partial"
        // What is there already may be for others to read.
        unlink(partial)
        defer { unlink(partial) }
        let target: FileDescriptor
        do {
            target = try FileDescriptor.open(
                FilePath(partial), .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: .ownerReadWrite)
        } catch let code as Errno
            where [.permissionDenied, .notPermitted, .readOnlyFileSystem].contains(code)
        {
            throw Problem.notWritable(file)
        }
        try target.closeAfter {
            try tar(["--create", "--file", partial, "--directory", staging, "."])
            guard fsync(target.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
        guard rename(partial, file) == 0 else { throw Errno(rawValue: errno) }
        return Summary(objects: objects)
    }

    /// Restores a backup into `folder`, which holds no data yet. Blocking.
    /// - Parameter secrets: names of files with the keys of families.
    /// - Throws: ``Problem``, `DataFolder.Problem`, `Store.Problem`.
    package static func restore(_ file: String, into folder: DataFolder, secrets: [String]) throws -> Summary {
        guard FileManager.default.fileExists(atPath: file) else { throw Problem.noSuchPath(file) }
        guard StateFolder.size(ofFile: folder.databasePath) ?? 0 == 0 else {
            throw DataFolder.Problem.holdsData(path: folder.path)
        }
        let staging = "\(folder.workFolder)/restore"
        try? FileManager.default.removeItem(atPath: staging)
        try FileManager.default.createDirectory(
            atPath: staging, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: staging) }
        do {
            try tar(["--extract", "--file", file, "--directory", staging, "--no-same-owner"])
        } catch {
            throw Problem.notABackup(file: file)
        }
        let database = "\(staging)/scribe.sqlite"
        guard FileManager.default.fileExists(atPath: database) else { throw Problem.notABackup(file: file) }
        let files: Int
        do {
            files = try check(database, objects: "\(staging)/objects", of: file)
        } catch is DatabaseError {
            throw Problem.damaged(reason: "\(file) holds no database of scribe-emulator that can be read")
        }
        try? FileManager.default.removeItem(atPath: folder.objectsFolder)
        // SQLite would apply to the database what a killed start has left there.
        for suffix in StateFolder.companions { unlink(folder.databasePath + suffix) }
        // The database comes last: a folder without it holds no data, and the restoring can be done again.
        let keys = ([DataFolder.signingKey] + secrets).map { ($0, "\(folder.path)/\($0)") }
        for (name, place) in [("objects", folder.objectsFolder)] + keys + [("scribe.sqlite", folder.databasePath)]
        where FileManager.default.fileExists(atPath: "\(staging)/\(name)") {
            chmod("\(staging)/\(name)", name == "objects" ? 0o700 : 0o600)
            guard rename("\(staging)/\(name)", place) == 0 else { throw Errno(rawValue: errno) }
        }
        return Summary(objects: files)
    }

    /// Finds the valid state. Until the lock is released, the state is neither removed nor moved. Blocking.
    private static func held(in folder: String) throws -> (StateFolder, FolderLock) {
        let layout = DataFolder.Layout(path: folder)
        let whole: FolderLock
        do {
            // The first start of this version moves nothing meanwhile.
            whole = try FolderLock(folder, LOCK_SH)
        } catch let code as Errno where [.noSuchFileOrDirectory, .notDirectory].contains(code) {
            throw Problem.noDatabase(folder: folder)
        } catch {
            throw DataFolder.Problem(error, at: folder)
        }
        var named = try layout.currentName()
        while let name = named {
            let state = layout.state(name)
            let hold = try? FolderLock(state.path, LOCK_SH)
            // Before the lock another may have become valid, and this one have been removed.
            named = try layout.currentName()
            guard named == name else { continue }
            try layout.requireDatabase(of: state)
            guard let hold, state.hasDatabase else { throw Problem.noDatabase(folder: folder) }
            return (state, hold)
        }
        guard !layout.isBeingMoved else { throw Problem.halfMoved(folder: folder) }
        guard layout.old.hasDatabase else { throw Problem.noDatabase(folder: folder) }
        return (layout.old, whole)
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static let filesSQL = "SELECT file FROM objects UNION ALL SELECT file FROM multipart_parts"

    /// Copies the database as it is now, after `link` has held on to the files that it names.
    ///
    /// Writes go on meanwhile; only the removal of files waits, for the lock on their folder (``ObjectFiles/remove(_:)``).
    /// - Returns: how many files there are.
    private static func copy(
        _ database: String, to target: String, objects: String, link: ([String]) throws -> Void
    ) throws -> Int {
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        let source = try DatabaseQueue(path: database, configuration: configuration)
        let copy = try DatabaseQueue(path: target)
        defer { for queue in [source, copy] { try? queue.close() } }
        return try source.writeWithoutTransaction { source in
            guard try source.tableExists("objects") else { throw Store.Problem.foreign(path: database) }
            // GRDB ends the program where a connection is left in a transaction.
            defer { if source.isInsideTransaction { try? source.execute(sql: "ROLLBACK") } }
            let files = try withoutRemovals(in: objects) {
                // What is read is as of one moment, and stays so until the end.
                try source.execute(sql: "BEGIN")
                let files = try String.fetchAll(source, sql: filesSQL)
                try link(files)
                return files
            }
            try copy.writeWithoutTransaction { try source.backup(to: $0) }
            return files.count
        }
    }

    private static func withoutRemovals<Value>(in folder: String, _ body: () throws -> Value) throws -> Value {
        let lock: FolderLock
        do {
            lock = try FolderLock(folder, LOCK_EX)
        } catch {
            throw Problem.noObjects(path: URL(fileURLWithPath: folder).path)
        }
        defer { lock.release() }
        return try body()
    }

    private static func link(_ files: [String], of objects: String, into staging: String) throws {
        for file in files {
            let parent = "\(staging)/objects/\(file.prefix(2))"
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try FileManager.default.linkItem(
                atPath: "\(objects)/\(file.prefix(2))/\(file)", toPath: "\(parent)/\(file)"
            )
        }
    }

    private static func check(_ database: String, objects: String, of file: String) throws -> Int {
        let queue = try DatabaseQueue(path: database)
        defer { try? queue.close() }
        let verdict = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        guard verdict == "ok" else { throw Problem.damaged(reason: verdict ?? "the database cannot be read") }
        if try queue.read(Schema.isNewer) { throw Problem.newerBackup(file: file) }
        let files = try queue.read { try String.fetchAll($0, sql: filesSQL) }
        for file in files where !FileManager.default.fileExists(atPath: "\(objects)/\(file.prefix(2))/\(file)") {
            throw Problem.damaged(reason: "an upload is missing")
        }
        return files.count
    }

    private static func tar(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["tar"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Problem.tarFailed }
    }
}
