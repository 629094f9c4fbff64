import Foundation
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

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
        do {
            return try FolderLock.making(path)
        } catch {
            throw DataFolder.Problem(error, at: path)
        }
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

    /// Links a file, or copies it where a link is not possible: on another disk, or for another user's file.
    static func hold(_ source: String, as target: String) throws {
        guard linkat(AT_FDCWD, source, AT_FDCWD, target, 0) != 0 else { return }
        switch errno {
        case ENOENT: throw Problem.missingUpload(source)
        case EXDEV, EPERM, EMLINK, EOPNOTSUPP: try copyFile(source, to: target)
        case let code: throw DataFolder.Problem(Errno(rawValue: code), at: source)
        }
    }

    /// Copies a file. Only the owner can read the copy.
    static func copyFile(_ source: String, to target: String) throws {
        do {
            let writer = try FileDescriptor.open(
                FilePath(target), .writeOnly, options: [.create, .truncate, .closeOnExec],
                permissions: .ownerReadWrite)
            _ = try writer.closeAfter { try copy(source, to: writer) }
        } catch let code as Errno {
            throw DataFolder.Problem(code, at: target)
        }
    }

    /// Appends the bytes of a file.
    /// - Returns: their number.
    /// - Throws: ``Problem/unreadable(_:)``, or the `Errno` of the writer.
    static func copy(_ source: String, to writer: FileDescriptor) throws -> Int {
        guard let reader = try? FileDescriptor.open(FilePath(source), .readOnly, options: .closeOnExec) else {
            throw Problem.unreadable(source)
        }
        return try reader.closeAfter {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
            defer { buffer.deallocate() }
            var copied = 0
            while true {
                guard let count = try? reader.read(into: buffer) else { throw Problem.unreadable(source) }
                guard count > 0 else { return copied }
                copied += try writer.writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    private static func makeFolder(_ path: String) throws {
        do {
            try DataFolder.makeFolder(path)
        } catch {
            throw DataFolder.Problem(error, at: path)
        }
    }
}
