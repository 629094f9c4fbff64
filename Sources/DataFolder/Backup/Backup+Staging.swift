import Basics
import Foundation
import ObjectStorage
import ScribeStore
import SystemPackage

/// Staging of a backup: a copy of the database, and links to the uploads that the database names.
extension Backup {
    static let filesSQL = "SELECT file FROM objects UNION ALL SELECT file FROM multipart_parts"

    /// Finds the valid state and locks it. The lock keeps the state from removal. Blocking.
    static func held(in layout: DataFolder.Layout) throws -> (StateFolder, FolderLock) {
        let folder = layout.path
        guard !FileManager.default.fileExists(atPath: layout.memoryMark) else { throw Problem.inMemory(folder: folder) }
        guard layout.isMarked else { throw Problem.noDatabase(folder: folder) }
        var named = try layout.validName()
        while let name = named {
            let state = layout.state(name)
            let hold = try? FolderLock(state.path, LOCK_SH)
            // Another state may have become valid before the lock, and this one may have been removed.
            named = try layout.validName()
            guard named == name else { continue }
            try layout.requireDatabase(of: state)
            guard let hold else { throw Problem.noDatabase(folder: folder) }
            return (state, hold)
        }
        throw Problem.noDatabase(folder: folder)
    }

    /// Makes the staging folder, and locks it. Other backups, and servers that start, remove unlocked staging folders.
    static func lockedStaging(_ path: String) throws -> FolderLock {
        try DataFolder.Problem.at(path) { try FolderLock.making(path) }
    }

    /// Links the uploads that the state's database names, then copies the database. Both are as of one moment.
    ///
    /// Writes go on meanwhile. Only the removal of files waits for the lock on their folder
    /// (``ObjectFiles/remove(_:)``).
    /// - Returns: the names of the uploads.
    static func stage(_ state: StateFolder, of folder: String, in staging: String) throws -> [String] {
        let target = StateFolder(path: staging)
        try makeFolder(target.objects)
        let (files, isEmpty) = try SQLiteFile.copy(state.database, to: target.database, filesSQL: filesSQL) { read in
            try withoutRemovals(in: state.objects) {
                let files = try read()
                try link(files, of: state.objects, into: target.objects)
                return files
            }
        }
        if let files { return files }
        // A killed first start leaves an empty database.
        throw isEmpty ? Problem.noDatabase(folder: folder) : Store.Problem.foreign(path: state.database)
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

    private static func link(_ files: [String], of objects: String, into target: String) throws {
        var folders: Set<String> = []
        for file in files {
            let path = ObjectFiles.relativePath(of: file)
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            if folders.insert(folder).inserted { try makeFolder("\(target)/\(folder)") }
            try hold("\(objects)/\(path)", as: "\(target)/\(path)")
        }
    }

    private static func hold(_ source: String, as target: String) throws {
        do {
            try FileSystem.link(source, as: target)
        } catch let failure as FileSystem.Failure {
            if failure.path == source, failure.code == .noSuchFileOrDirectory { throw Problem.missingUpload(source) }
            throw DataFolder.Problem(failure.code, at: failure.path)
        }
    }

    /// Copies a file. Only the owner can read the copy.
    static func copyFile(_ source: String, to target: String) throws {
        do {
            try FileSystem.copy(source, as: target)
        } catch let failure as FileSystem.Failure {
            guard failure.path == target else { throw Problem.unreadable(source) }
            throw DataFolder.Problem(failure.code, at: target)
        }
    }

    private static func makeFolder(_ path: String) throws {
        try DataFolder.Problem.at(path) { try FileSystem.makeFolder(path) }
    }
}
