/// Inode, size and modification time of a file. A different mark means that the file may have changed.
package struct FileFingerprint: Hashable, Sendable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// Reads the mark of a file and follows symbolic links, by which containers swap secrets.
    /// Blocks for microseconds. Nil if the file does not exist.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let time = OperatingSystem.modificationTime(of: status)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = time.tv_sec
        nanoseconds = time.tv_nsec
    }
}
