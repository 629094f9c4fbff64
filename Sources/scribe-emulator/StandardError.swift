import SystemPackage

/// Writes lines to standard error.
enum StandardError {
    /// Writes a line. The line is lost if it cannot be written, as on a full disk: a server must not end because of its
    /// log.
    static func write(_ line: String) { write(Array(line.utf8)) }

    /// Writes a line that is in UTF-8.
    static func write(_ line: [UInt8]) {
        // One call, so that lines of two threads do not mix.
        _ = try? FileDescriptor.standardError.writeAll(line + [UInt8(ascii: "\n")])
    }
}
