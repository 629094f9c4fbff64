import Foundation

/// JSON file with the URLs of a running server: `{"base_url": …, "tls_url": …, "pid": …}`, without `tls_url` if TLS
/// is off. It exists only while the server is ready.
struct ReadyFile: Sendable {
    struct Content: Codable {
        let base_url: String
        let tls_url: String?
        let pid: Int32
    }

    let path: String

    /// Writes the file atomically: a reader never sees half of it.
    func write(baseURL: String, tlsURL: String?) throws {
        let content = Content(base_url: baseURL, tls_url: tlsURL, pid: ProcessInfo.processInfo.processIdentifier)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(content).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// An error if the file cannot be written; nil if it can. `serve` asks before it starts, not when it is ready.
    var problem: String? {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            return "--ready-file: \(path) is a folder; name a file"
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: folder)
            ? nil
            : "--ready-file: the folder \(folder) does not exist or is not writable; create it, or name another one"
    }

    /// The content; nil if the file does not exist or is not a ready file.
    func read() -> Content? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Content.self, from: $0) }
    }

    /// Removes the file. A folder with its name stays.
    func remove() { unlink(path) }
}
