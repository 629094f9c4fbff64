import Basics
import ScribeDomain

/// A file as it was at its path.
struct OpenedFile: Sendable {
    private let path: String
    private let device: dev_t
    private let number: ino_t

    /// - Returns: nil for a path without a file.
    init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        (self.path, device, number) = (path, info.st_dev, info.st_ino)
    }

    /// Requires that the path still leads to that file. SQLite would go on to write into a file that was removed.
    /// Blocking.
    /// - Throws: ``ScribeError/storageUnavailable(cause:)``.
    func requireStillThere() throws(ScribeError) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_dev == device, info.st_ino == number else {
            throw .storageUnavailable(cause: "the data folder was removed or replaced")
        }
    }
}
