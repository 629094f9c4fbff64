import Foundation

/// Tells whoever started the server where it is: `{"base_url": …, "pid": …}`, with TLS a `tls_url` too, there only while it is ready.
struct ReadyFile: Sendable {
    struct Content: Codable {
        let base_url: String
        let tls_url: String?
        let pid: Int32
    }

    let path: String

    /// Written whole or not at all: a reader never sees half of it.
    func write(baseURL: String, tlsURL: String?) throws {
        let content = Content(base_url: baseURL, tls_url: tlsURL, pid: ProcessInfo.processInfo.processIdentifier)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(content).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// Why nothing could be written there, nil when something can: better asked before the start than after it.
    var problem: String? {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            return "--ready-file: \(path) is a folder"
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.isWritableFile(atPath: folder)
            ? nil : "--ready-file: nothing can be written in \(folder)"
    }

    func read() -> Content? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Content.self, from: $0) }
    }

    /// A file only: what else has come to be there is nobody's to remove.
    func remove() { unlink(path) }
}
