import Basics
import Foundation
import ObjectStorage
import ScribeStore
import SystemPackage

/// Backup of a data folder: one tar archive with the database, the uploads and the keys.
package enum Backup {
    /// Contents of a backup, as counts.
    package struct Summary: Sendable {
        package let objects: Int
    }

    /// Writes a backup of `folder` to `file`, also while a server uses the folder. Blocking.
    ///
    /// The backup is of one moment. Uploads are linked, not copied, until they are archived.
    /// - Parameters:
    ///   - name: the name of a temporary folder, which no other backup has.
    ///   - secrets: file names of the families' keys.
    package static func write(folder: String, to file: String, name: String, secrets: [String]) throws -> Summary {
        let layout = DataFolder.Layout(path: folder)
        let (state, hold) = try held(in: layout)
        let file = URL(fileURLWithPath: file).path
        try requireTarget(file, outside: [folder, state.path, state.objects])
        layout.removeLeftovers()
        let staging = layout.staging(name)
        let lock = try lockedStaging(staging)
        defer { lock.release() }
        defer { try? FileManager.default.removeItem(atPath: staging) }
        let uploads: [String]
        do {
            defer { hold.release() }
            uploads = try stage(state, of: folder, in: staging)
        }
        let keys = ([DataFolder.signingKey] + secrets).filter {
            FileManager.default.fileExists(atPath: "\(folder)/\($0)")
        }
        for key in keys { try copyFile("\(folder)/\(key)", to: "\(staging)/\(key)") }
        let files = [first] + keys + uploads.map { "objects/\(ObjectFiles.relativePath(of: $0))" }
        try archive(files, of: staging, in: file)
        return Summary(objects: uploads.count)
    }

    /// Requires that the target can hold a backup.
    /// - Parameter folders: folders whose files the backup must not replace, or which a start empties.
    private static func requireTarget(_ file: String, outside folders: [String]) throws {
        let parent = URL(fileURLWithPath: file).deletingLastPathComponent()
        guard FileSystem.isFolder(parent.path) else { throw Problem.noSuchPath(parent.path) }
        guard !FileSystem.isFolder(file) else { throw Problem.isFolder(file) }
        // The final rename would replace a device or a link too.
        guard !isLink(file) else { throw Problem.isLink(file) }
        guard FileSystem.size(ofFile: file) != nil || !FileManager.default.fileExists(atPath: file) else {
            throw Problem.isNoFile(file)
        }
        let place = parent.resolvingSymlinksInPath().path
        for folder in folders {
            let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
            guard place != root, !place.hasPrefix("\(root)/") else { throw Problem.inDataFolder(file) }
        }
        for file in [file, "\(file).partial"] {
            guard FileSystem.size(ofFile: file) ?? 0 == 0 || isBackup(file) else { throw Problem.isOther(file) }
        }
    }

    /// Whether a file begins as a backup does. Only such a file is replaced by another backup.
    private static func isBackup(_ file: String) -> Bool {
        (try? FileSystem.beginning(of: file))?.starts(with: Array("\(first)\0".utf8)) == true
    }

    /// Name of each archive's first member.
    static let first = "scribe.sqlite"

    static func isLink(_ path: String) -> Bool {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
    }

    /// Writes the archive beside `file`, and renames it to `file` when it holds all of `files`.
    private static func archive(_ files: [String], of staging: String, in file: String) throws {
        let partial = "\(file).partial"
        do {
            let target = try lockedTarget(partial, of: file)
            defer { try? target.close() }
            do {
                try write(files, of: staging, to: target)
                guard OperatingSystem.sync(target.rawValue) == 0, rename(partial, file) == 0 else {
                    throw Errno(rawValue: errno)
                }
            } catch {
                unlink(partial)
                throw error
            }
            // Errors are ignored: the backup is in place, and this user may have no right to read the folder.
            try? FileSystem.syncFolder(URL(fileURLWithPath: file).deletingLastPathComponent().path)
        } catch let code as Errno {
            switch code {
            case .permissionDenied, .notPermitted, .readOnlyFileSystem: throw Problem.notWritable(file)
            default: throw Problem.unwritable(file, reason: code.description)
            }
        }
    }

    /// Opens and locks the partial file, which a killed backup may have left.
    /// - Throws: ``Problem/isBeingWritten(_:)`` when another backup has the lock.
    private static func lockedTarget(_ partial: String, of file: String) throws -> FileDescriptor {
        let target = try FileDescriptor.open(
            FilePath(partial), .writeOnly, options: [.create, .noFollow, .closeOnExec], permissions: .ownerReadWrite)
        do {
            if flock(target.rawValue, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                throw Problem.isBeingWritten(file)
            }
            var locked = stat()
            var there = stat()
            // The file may have become the other process's backup before the lock.
            guard fstat(target.rawValue, &locked) == 0, lstat(partial, &there) == 0, locked.st_ino == there.st_ino
            else { throw Problem.isBeingWritten(file) }
            // A partial file that was left may be readable for others.
            guard fchmod(target.rawValue, 0o600) == 0, ftruncate(target.rawValue, 0) == 0 else {
                throw Errno(rawValue: errno)
            }
        } catch {
            try? target.close()
            throw error
        }
        return target
    }

    /// Appends the bytes of a file.
    /// - Throws: ``Problem/unreadable(_:)``, or the `Errno` of the archive.
    private static func append(_ path: String, to archive: FileDescriptor) throws -> Int {
        do {
            return try FileSystem.append(path, to: archive)
        } catch is FileSystem.Failure {
            throw Problem.unreadable(path)
        }
    }

    private static func write(_ files: [String], of staging: String, to archive: FileDescriptor) throws {
        for name in files {
            let path = "\(staging)/\(name)"
            guard let size = FileSystem.size(ofFile: path) else { throw Problem.unreadable(path) }
            let entry = TarEntry(name: name, size: size)
            try archive.writeAll(entry.header)
            guard try Self.append(path, to: archive) == size else { throw Problem.unreadable(path) }
            try archive.writeAll(repeatElement(0, count: entry.padding))
        }
        try archive.writeAll(repeatElement(0, count: TarEntry.endSize))
    }
}
