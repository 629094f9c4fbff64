import Foundation
import ScribeDomain
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

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
        // tar takes a relative name with a colon for a file on another machine.
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
        } catch {
            throw StorageFailure.problem(of: error, path: state.database)
        }
        let keys = ([DataFolder.signingKey] + secrets).filter {
            FileManager.default.fileExists(atPath: "\(folder)/\($0)")
        }
        for key in keys { try copyFile("\(folder)/\(key)", to: "\(staging)/\(key)") }
        let files = ["scribe.sqlite"] + keys + uploads.map { "objects/\(ObjectFiles.relativePath(of: $0))" }
        try archive(files, of: staging, in: file)
        return Summary(objects: uploads.count)
    }

    /// Requires that the target can hold a backup.
    /// - Parameter folders: folders whose files the backup must not replace, or which a start empties.
    private static func requireTarget(_ file: String, outside folders: [String]) throws {
        let parent = URL(fileURLWithPath: file).deletingLastPathComponent()
        guard DataFolder.isFolder(parent.path) else { throw Problem.noSuchPath(parent.path) }
        guard !DataFolder.isFolder(file) else { throw Problem.isFolder(file) }
        // The final rename would replace a device or a link too.
        guard !isLink(file) else { throw Problem.isLink(file) }
        guard StateFolder.size(ofFile: file) != nil || !FileManager.default.fileExists(atPath: file) else {
            throw Problem.isNoFile(file)
        }
        let place = parent.resolvingSymlinksInPath().path
        for folder in folders {
            let root = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
            guard place != root, !place.hasPrefix("\(root)/") else { throw Problem.inDataFolder(file) }
        }
        for file in [file, "\(file).partial"] {
            guard StateFolder.size(ofFile: file) ?? 0 == 0 || isBackup(file) else { throw Problem.isOther(file) }
        }
    }

    /// Whether a file begins as a backup does. Only such a file is replaced by another backup.
    private static func isBackup(_ file: String) -> Bool {
        (try? DataFolder.Layout.beginning(of: file))?.starts(with: Array("\(first)\0".utf8)) == true
    }

    /// Name of each archive's first member.
    private static let first = "./scribe.sqlite"

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
                try write(files, of: staging, to: partial, for: file)
                guard fsync(target.rawValue) == 0, rename(partial, file) == 0 else { throw Errno(rawValue: errno) }
            } catch {
                unlink(partial)
                throw error
            }
            // Errors are ignored: the backup is in place, and this user may have no right to read the folder.
            try? DataFolder.Layout.syncFolder(URL(fileURLWithPath: file).deletingLastPathComponent().path)
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

    private static func write(_ files: [String], of staging: String, to partial: String, for file: String) throws {
        let members =
            [first, "./objects"] + files.filter { !$0.contains("/") }.map { "./\($0)" }.filter { $0 != first }
        let (status, said) = try tar(
            ["--create", "--file", partial, "--directory", staging] + members, withErrors: true)
        guard status <= 1 else {
            guard !isFull(said) else { throw Errno.noSpace }
            throw Problem.tarFailed
        }
        // Status 1: a file has changed. The server's removal of an upload changes its link count.
        let missing = try Set(files).subtracting(list(partial)).count
        guard missing == 0 else {
            throw status == 0 ? Problem.incomplete(file: file, missing: missing) : Problem.tarFailed
        }
    }

    /// Lists an archive.
    /// - Returns: the paths in the archive.
    private static func list(_ archive: String) throws -> Set<String> {
        let (status, output) = try tar(["--list", "--file", archive])
        guard status == 0 else { throw Problem.tarFailed }
        let paths = output.split(separator: "\n")
        return Set(paths.map { String($0.hasPrefix("./") ? $0.dropFirst(2) : $0) })
    }

    /// Whether tar's output says that the disk is full.
    static func isFull(_ said: String) -> Bool {
        said.contains("No space left on device") || said.contains("Disk quota exceeded")
    }

    /// Runs tar.
    ///
    /// Foundation's `Process` reads past the list of open files where a process has more than a thousand of them.
    /// - Parameter withErrors: whether the output includes tar's errors, in English.
    static func tar(_ arguments: [String], withErrors: Bool = false) throws -> (status: Int32, output: String) {
        let (reading, writing) = try FileDescriptor.pipe()
        let null = try FileDescriptor.open("/dev/null", .readWrite)
        defer { try? null.close() }
        let program = Result {
            try ChildProcess(
                ["tar"] + arguments,
                environment: ProcessInfo.processInfo.environment.merging(["LC_ALL": "C"]) { _, own in own },
                streams: [null, writing, withErrors ? writing : null].map(\.rawValue))
        }
        try writing.close()
        let output = FileHandle(fileDescriptor: reading.rawValue, closeOnDealloc: true).readDataToEndOfFile()
        guard let program = try? program.get() else { throw Problem.tarFailed }
        return (program.wait(), String(decoding: output, as: UTF8.self))
    }
}
