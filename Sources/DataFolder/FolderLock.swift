import Basics
import Foundation
import SystemPackage

/// Lock on a folder by `flock`. The lock ends with ``release()``, with its last reference, or with the process.
///
/// Two locks of one process exclude each other like those of two processes.
final class FolderLock: Sendable {
    private let descriptor: FileDescriptor

    /// Locks the folder at `path`. Blocking.
    /// - Parameter operation: `LOCK_SH` or `LOCK_EX`; `LOCK_NB` fails instead of waiting.
    /// - Throws: `Errno`.
    init(_ path: String, _ operation: Int32) throws {
        let descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: [.directory, .closeOnExec])
        while flock(descriptor.rawValue, operation) != 0 {
            let code = Errno(rawValue: errno)
            if code == .interrupted { continue }
            try? descriptor.close()
            throw code
        }
        self.descriptor = descriptor
    }

    /// Makes a folder that only its owner can read, and locks it. Another program that removes unlocked folders may
    /// remove the folder before the lock; it is then made again. Blocking.
    /// - Throws: `Errno`.
    static func making(_ path: String) throws -> FolderLock {
        while true {
            try FileSystem.makeFolder(path)
            do {
                let lock = try FolderLock(path, LOCK_EX)
                if lock.isStill(at: path) { return lock }
            } catch Errno.noSuchFileOrDirectory {
                continue
            }
        }
    }

    deinit {
        release()
        try? descriptor.close()
    }

    /// Whether the folder at `path` is the locked one. Another program may have removed or replaced it before the lock.
    func isStill(at path: String) -> Bool {
        var locked = stat()
        var there = stat()
        return fstat(descriptor.rawValue, &locked) == 0 && stat(path, &there) == 0
            && locked.st_dev == there.st_dev && locked.st_ino == there.st_ino
    }

    /// Removes the folder at `path` under its lock. A folder that another program has locked stays. Blocking.
    static func removeUnlocked(_ path: String) {
        guard let lock = try? FolderLock(path, LOCK_EX | LOCK_NB), lock.isStill(at: path) else { return }
        try? FileManager.default.removeItem(atPath: path)
        lock.release()
    }

    /// Unlocks the folder. Closing would not be enough: a child process may still hold the descriptor.
    func release() { flock(descriptor.rawValue, LOCK_UN) }
}
