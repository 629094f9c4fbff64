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
        case notABackup(file: String)
        case folderNotEmpty(folder: String)
        case damaged(reason: String)
        case noSuchPath(String)
        case isFolder(String)
        case notWritable(String)
        case tarFailed

        package var description: String {
            switch self {
            case .noDatabase(let folder): "there is no scribe-emulator data in \(folder)"
            case .notABackup(let file): "\(file) is no backup of scribe-emulator"
            case .folderNotEmpty(let folder): "\(folder) holds data already; restore into a new folder"
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
    package static func write(folder: String, to file: String, name: String) throws -> Summary {
        let database = "\(folder)/scribe.sqlite"
        guard FileManager.default.fileExists(atPath: database) else { throw Problem.noDatabase(folder: folder) }
        let parent = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard isFolder(parent) else { throw Problem.noSuchPath(parent) }
        guard !isFolder(file) else { throw Problem.isFolder(file) }
        let staging = DataFolder.workFolder(of: folder) + "/backup-\(name)"
        defer { try? FileManager.default.removeItem(atPath: staging) }
        try FileManager.default.createDirectory(
            atPath: "\(staging)/objects", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700]
        )
        let objects: Int
        do {
            objects = try copy(database, to: "\(staging)/scribe.sqlite", objects: "\(folder)/objects") {
                try link($0, of: folder, into: staging)
            }
        } catch {
            throw Store.Problem.explained(error, path: database)
        }
        for key in keys where FileManager.default.fileExists(atPath: "\(folder)/\(key)") {
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
    package static func restore(_ file: String, into folder: String) throws -> Summary {
        guard FileManager.default.fileExists(atPath: file) else { throw Problem.noSuchPath(file) }
        let existing = try? FileManager.default.attributesOfItem(atPath: "\(folder)/scribe.sqlite")[.size] as? Int
        if let existing, existing > 0 {
            throw Problem.folderNotEmpty(folder: folder)
        }
        let staging = DataFolder.workFolder(of: folder) + "/restore"
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
        let files = try check(database, objects: "\(staging)/objects")
        try? FileManager.default.removeItem(atPath: "\(folder)/objects")
        for name in ["objects"] + keys + ["scribe.sqlite"]
        where FileManager.default.fileExists(atPath: "\(staging)/\(name)") {
            chmod("\(staging)/\(name)", name == "objects" ? 0o700 : 0o600)
            guard rename("\(staging)/\(name)", "\(folder)/\(name)") == 0 else { throw Errno(rawValue: errno) }
        }
        return Summary(objects: files)
    }

    /// What was signed before is to be known again.
    private static let keys = [DataFolder.signingKey, DataFolder.ambientKey]

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
            let files = try withoutRemovals(in: objects) {
                // What is read is as of one moment, and stays so until the end.
                try source.execute(sql: "BEGIN")
                let files = try String.fetchAll(source, sql: filesSQL)
                try link(files)
                return files
            }
            defer { try? source.execute(sql: "ROLLBACK") }
            try copy.writeWithoutTransaction { try source.backup(to: $0) }
            return files.count
        }
    }

    private static func withoutRemovals<Value>(in folder: String, _ body: () throws -> Value) throws -> Value {
        let folder = try FileDescriptor.open(FilePath(folder), .readOnly, options: [.directory, .closeOnExec])
        return try folder.closeAfter {
            guard flock(folder.rawValue, LOCK_EX) == 0 else { throw Errno(rawValue: errno) }
            return try body()
        }
    }

    private static func link(_ files: [String], of folder: String, into staging: String) throws {
        for file in files {
            let parent = "\(staging)/objects/\(file.prefix(2))"
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            try FileManager.default.linkItem(
                atPath: "\(folder)/objects/\(file.prefix(2))/\(file)", toPath: "\(parent)/\(file)"
            )
        }
    }

    private static func check(_ database: String, objects: String) throws -> Int {
        let queue = try DatabaseQueue(path: database)
        defer { try? queue.close() }
        let verdict = try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        guard verdict == "ok" else { throw Problem.damaged(reason: verdict ?? "the database cannot be read") }
        if try queue.read(Schema.migrator.hasBeenSuperseded) { throw Store.Problem.newerSchema(path: database) }
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
