import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A lock on a folder by `flock`: it ends with ``release()``, with its last reference, or with the process.
///
/// Two locks of one process exclude each other like those of two processes.
final class FolderLock: Sendable {
    private let descriptor: FileDescriptor

    /// Locks the folder at `path`. Blocking.
    /// - Parameter operation: `LOCK_SH` or `LOCK_EX`, with `LOCK_NB` to fail where it would wait.
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

    deinit {
        release()
        try? descriptor.close()
    }

    /// Unlocks the folder. Closing would not be enough: a program that was just started may still hold the descriptor.
    func release() { flock(descriptor.rawValue, LOCK_UN) }
}
