import SystemPackage

enum StandardError {
    /// Writes a line. One that cannot be written, on a full disk or to a reader that is gone, is lost: a server does
    /// not end because of its log.
    static func write(_ line: String) { write(Array(line.utf8)) }

    /// The same in UTF-8.
    static func write(_ line: [UInt8]) {
        // In one call, so that the lines of two threads do not mix.
        _ = try? FileDescriptor.standardError.writeAll(line + [UInt8(ascii: "\n")])
    }
}
