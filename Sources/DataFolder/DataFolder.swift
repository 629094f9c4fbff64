import Basics
import Foundation
import ScribeStore
import SystemPackage

/// Data folder of one server: the states with database and uploads, `work/`, the signing key and the token of the
/// operator API. ``Layout`` finds the valid state.
///
/// Only the owner can read the files. One process at a time uses the folder.
package final class DataFolder: Sendable {
    package let path: String
    /// Whether the folder got its database when it was opened.
    package let isNew: Bool
    private let lock: FileDescriptor
    /// The valid state, with the shared lock that keeps other servers from removing it. Without a lock where the file
    /// system has none. Nil for a server that keeps its rows elsewhere.
    let valid: LockedValue<HeldState?>

    /// Opens the folder at `path`, creating missing files. Blocking.
    ///
    /// The path becomes absolute, because links and recogniser programs have other working folders.
    /// - Parameters:
    ///   - tolerated: names that may stand in the folder before its first start: ``requireOurs(path:tolerating:)``.
    ///   - mustBeEmpty: whether a folder with data is refused and left unchanged.
    ///   - keepsRows: whether the folder has a state. A server with rows in memory or in PostgreSQL needs none: it has
    ///     its keys and temporary files here.
    /// - Throws: ``Problem``; `Store.Problem` where the database of the first state cannot be made.
    package init(
        path: String, tolerating tolerated: Set<String> = [], mustBeEmpty: Bool = false, keepsRows: Bool = true
    ) throws {
        let layout = Layout(path: URL(fileURLWithPath: path).path)
        let path = layout.path
        try layout.requireOurs(tolerating: tolerated)
        let lock = try Self.locked(layout)
        let state: StateFolder?
        do {
            if mustBeEmpty, try layout.holdsData() { throw Problem.holdsData(path: path) }
            (state, isNew) = try Self.prepared(layout, keepsRows: keepsRows)
        } catch {
            flock(lock.rawValue, LOCK_UN)
            try? lock.close()
            throw error
        }
        self.path = path
        self.lock = lock
        valid = LockedValue(state.map(HeldState.init(folder:)))
        layout.emptyWorkFolder()
        layout.removeLeftovers()
    }

    /// Requires that a server may use and clear the folder at `path`: a data folder, a folder that is missing, or one
    /// without anybody else's files. Blocking.
    /// - Parameter tolerated: names that images, units and TLS put into a data folder before its first start.
    /// - Throws: ``Problem``.
    package static func requireOurs(path: String, tolerating tolerated: Set<String>) throws {
        try Layout(path: URL(fileURLWithPath: path).path).requireOurs(tolerating: tolerated)
    }

    /// Opens, locks and marks the lock file.
    private static func locked(_ layout: Layout) throws -> FileDescriptor {
        let lock = try Problem.at(layout.path) {
            try FileSystem.makeFolder(layout.path)
            return try FileDescriptor.open(
                FilePath(layout.lock), .readWrite, options: [.create, .noFollow, .closeOnExec],
                permissions: .ownerReadWrite
            )
        }
        do {
            guard flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0 else {
                throw errno == EWOULDBLOCK
                    ? Problem.inUse(path: layout.path) : Problem(Errno(rawValue: errno), at: layout.lock)
            }
            try layout.mark(lock)
        } catch {
            try? lock.close()
            throw error
        }
        return lock
    }

    /// Prepares the folder. On a full disk it uses the room of the reserve, which ``StorageReserve`` takes again.
    private static func prepared(
        _ layout: Layout, keepsRows: Bool
    ) throws -> (state: StateFolder?, isNew: Bool) {
        do {
            return try layout.prepare(keepsRows: keepsRows)
        } catch Problem.full, Store.Problem.full {
            unlink(reserve(of: layout.path))
            return try layout.prepare(keepsRows: keepsRows)
        }
    }

    deinit {
        release()
        try? lock.close()
    }

    /// Releases the folder for other servers. Closing the file would not be enough: a child process may still hold the
    /// descriptor.
    package func release() {
        valid.withLock { $0?.lock }?.release()
        flock(lock.rawValue, LOCK_UN)
    }

    /// The name of the file with the key that signs tokens and links.
    package static let signingKey = "signing-key"
    /// The name of the file with the token of the operator API.
    package static let adminToken = "admin-token"

    /// The contents of the folder's key files, by name. Blocking.
    /// - Parameter names: names of the families' key files; the folder's own come too.
    package func secrets(_ names: [String]) -> [String: [UInt8]] {
        let files = ([Self.signingKey, Self.adminToken] + names).compactMap { name in
            FileManager.default.contents(atPath: "\(path)/\(name)").map { (name, [UInt8]($0)) }
        }
        return Dictionary(files, uniquingKeysWith: { first, _ in first })
    }

    /// The valid state of a folder that has one.
    package var heldState: HeldState {
        guard let held = valid.withLock({ $0 }) else { preconditionFailure("\(path) keeps no rows") }
        return held
    }
    var state: StateFolder { heldState.folder }

    package var databasePath: String { state.database }
    /// Path of the ``StorageReserve``'s file; nil for a folder without a state.
    package var reservePath: String? { valid.withLock { $0 } == nil ? nil : Self.reserve(of: path) }
    /// Folders on the disks that writes need.
    package var writtenFolders: [String] { valid.withLock { $0 } == nil ? [path] : [path, Layout(path: path).states] }
    package var objectsFolder: String { state.objects }
    /// Folder for temporary files of jobs.
    package var workFolder: String { Layout(path: path).work }

    /// Folder with the snapshots of the default namespace, which may be missing.
    package var snapshotFolder: String { "\(path)/snapshots" }

    private static func reserve(of path: String) -> String { "\(path)/reserve" }

    /// Reads the secret in the file `name`, or makes it from `fresh` on first use. Blocking.
    ///
    /// Only the owner can read the file from the moment it exists. Readers see the complete file or none.
    /// - Throws: ``Problem``, or the error of `fresh`.
    package func keptSecret(named name: String, fresh: () throws -> [UInt8]) throws -> [UInt8] {
        let file = "\(path)/\(name)"
        if let data = FileManager.default.contents(atPath: file), !data.isEmpty { return [UInt8](data) }
        // An unreadable key is never replaced, because tokens and links that it signed are in use.
        guard FileSystem.size(ofFile: file) ?? 0 == 0 else { throw Problem.unreadable(file: file) }
        let bytes = try fresh()
        // A power cut that lost the name would lose with it every signature until then.
        try Problem.at(file) { try FileSystem.replace(file, with: bytes) }
        return bytes
    }
}
