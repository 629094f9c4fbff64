import Foundation

enum StandardError {
    /// Writes a line. One that cannot be written, on a full disk or to a reader that is gone, is lost: a server does
    /// not end because of its log.
    static func write(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}
