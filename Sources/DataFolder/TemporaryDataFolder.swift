import Basics
import Foundation
import SystemPackage

/// Place of the data folder of a server that keeps its rows elsewhere: a folder for temporary files.
///
/// A lock tells other servers that the folder is in use. Their starts remove the folders that killed servers left.
package final class TemporaryDataFolder: Sendable {
    private static let prefix = "scribe-emulator-"

    package let path: String
    /// Nil where the file system has no locks.
    private let lock: FolderLock?

    /// Makes the folder. Blocking.
    /// - Parameters:
    ///   - parent: the folder for temporary files, which is made if it is missing.
    ///   - name: a name that no other server has, as a UUID.
    /// - Throws: ``DataFolder/Problem`` about the parent.
    package init(in parent: String, name: String) throws {
        path = "\(parent)/\(Self.prefix)\(name)"
        do {
            lock = try FolderLock.making(path)
        } catch {
            guard FileSystem.isFolder(path) else { throw DataFolder.Problem(error, at: parent) }
            lock = nil
        }
    }

    /// Removes the folder with all files. Blocking.
    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes the folders that killed servers of this user left in a folder for temporary files: real folders with a
    /// server's mark, which no server has locked. Blocking.
    package static func removeLeft(in parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        where name.hasPrefix(prefix) && UUID(uuidString: "\(name.dropFirst(prefix.count))") != nil {
            let layout = DataFolder.Layout(path: "\(parent)/\(name)")
            var info = stat()
            guard lstat(layout.path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid(),
                layout.isMarked,
                let file = try? FileDescriptor.open(
                    FilePath(layout.lock), .readOnly, options: [.noFollow, .closeOnExec])
            else { continue }
            if flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 { FolderLock.removeUnlocked(layout.path) }
            try? file.close()
        }
    }
}
