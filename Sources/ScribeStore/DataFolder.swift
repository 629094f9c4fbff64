import Foundation
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The folder that holds all data of one server: the states with database and uploads, of which ``Layout`` says which one
/// is valid, `work/`, the signing key and the operators' token.
///
/// What is in it is readable by its owner only, and it is used by one process at a time.
package final class DataFolder: Sendable {
    package let path: String
    private let lock: FileDescriptor
    /// The valid state.
    let state: StateFolder
    /// Keeps the state from being removed by a server that had the folder before. Nil where the file system has no locks.
    private let hold: FolderLock?

    /// Opens the folder at `path`, creating what is missing. Blocking.
    ///
    /// From here on its path is absolute: links and the programs that transcribe stand in other folders.
    /// - Parameter mustBeEmpty: refuses a folder that holds data, and leaves it as it is.
    /// - Parameter opening: what the caller requires of the keys before data of an earlier version are moved.
    /// - Throws: ``Problem``; `Store.Problem` where the database of an earlier version cannot be moved.
    package init(path: String, mustBeEmpty: Bool = false, _ opening: Opening = Opening()) throws {
        let path = URL(fileURLWithPath: path).path
        let lock = try Self.locked(path, isShared: opening.isShared)
        let state: StateFolder
        do {
            let layout = Layout(path: path, opening: opening)
            if mustBeEmpty, try layout.holdsData() { throw Problem.holdsData(path: path) }
            state = try Self.prepared(layout)
        } catch {
            flock(lock.rawValue, LOCK_UN)
            try? lock.close()
            throw error
        }
        self.path = path
        self.lock = lock
        self.state = state
        hold = try? FolderLock(state.path, LOCK_SH)
        // Other processes may be using what lies there.
        guard !opening.isShared else { return }
        emptyWorkFolder()
        Layout(path: path).removeLeftovers()
    }

    /// Removes the files that a killed recogniser left behind. A backup of an earlier version has a locked folder there.
    private func emptyWorkFolder() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: workFolder)) ?? [] {
            let path = "\(workFolder)/\(name)"
            var lock: FolderLock?
            do {
                lock = try FolderLock(path, LOCK_EX | LOCK_NB)
            } catch Errno.wouldBlock {
                continue
            } catch {
                // A file, or a file system without locks.
            }
            try? FileManager.default.removeItem(atPath: path)
            lock?.release()
        }
    }

    /// Opens the file that one process at a time has a lock on, or several that share the folder.
    private static func locked(_ path: String, isShared: Bool) throws -> FileDescriptor {
        let lock: FileDescriptor
        do {
            try makeFolder(path)
            lock = try FileDescriptor.open(
                FilePath("\(path)/lock"), .readWrite, options: [.create, .closeOnExec],
                permissions: .ownerReadWrite
            )
        } catch {
            throw Problem(error, at: path)
        }
        guard flock(lock.rawValue, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            try? lock.close()
            throw Problem.inUse(path: path)
        }
        return lock
    }

    /// Prepares the folder; on a full disk in the room of the reserve, which ``StorageReserve`` takes again.
    private static func prepared(_ layout: Layout) throws -> StateFolder {
        do {
            return try layout.prepare()
        } catch Problem.full, Store.Problem.full {
            unlink(reserve(of: layout.path))
            return try layout.prepare()
        }
    }

    /// Creates a folder that only its owner can read, and the folders above it.
    /// - Throws: `Errno`.
    static func makeFolder(_ path: String, mode: mode_t = 0o700) throws {
        if mkdir(path, mode) == 0 { return }
        switch errno {
        case EEXIST:
            guard isFolder(path) else { throw Errno.fileExists }
        case ENOENT:
            let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
            guard parent != path else { throw Errno.noSuchFileOrDirectory }
            try makeFolder(parent, mode: 0o777)
            guard mkdir(path, mode) == 0 || errno == EEXIST && isFolder(path) else { throw Errno(rawValue: errno) }
        case let code:
            // Some file systems refuse before they say that the folder exists.
            guard isFolder(path) else { throw Errno(rawValue: code) }
        }
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    deinit {
        release()
        try? lock.close()
    }

    /// Lets another server have the folder, when nothing of it is used any more. Closing the file would not be enough:
    /// a program that was just started may still hold it.
    package func release() {
        hold?.release()
        flock(lock.rawValue, LOCK_UN)
    }

    /// The name of the file with the key that signs tokens and links.
    package static let signingKey = "signing-key"
    /// The name of the file with the token that opens the door for operators.
    package static let adminToken = "admin-token"

    package var databasePath: String { state.database }
    /// For ``StorageReserve``.
    package var reservePath: String { Self.reserve(of: path) }
    package var objectsFolder: String { state.objects }
    /// For files that live no longer than the work on them.
    package var workFolder: String { Layout(path: path).work }

    private static func reserve(of path: String) -> String { "\(path)/reserve" }

    /// The secret kept in the file of that name, made from `fresh` on first use. Blocking.
    ///
    /// The file is readable by its owner only from the moment it exists, and complete from the moment it is seen.
    /// - Throws: ``Problem``, what `fresh` throws.
    package func secret(named name: String, fresh: () throws -> [UInt8]) throws -> [UInt8] {
        let file = "\(path)/\(name)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return [UInt8](data) }
        // A key that cannot be read is not replaced: tokens and links of it are in use.
        guard StateFolder.size(ofFile: file) ?? 0 == 0 else { throw Problem.unreadable(file: file) }
        let bytes = try fresh()
        do {
            let temporary = FilePath("\(file).new")
            let descriptor = try FileDescriptor.open(
                temporary, .writeOnly, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite
            )
            try descriptor.closeAfter {
                _ = try descriptor.writeAll(bytes)
                try Layout.syncFile(descriptor)
            }
            guard rename("\(file).new", file) == 0 else { throw Errno(rawValue: errno) }
            // A power cut would lose the name, and with it what was signed until then.
            try Layout.syncFolder(path)
        } catch {
            throw Problem(error, at: file)
        }
        return bytes
    }
}
