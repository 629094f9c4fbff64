import ArgumentParser
import Basics
import Foundation
import NIOCore
import ServiceLifecycle

/// JSON file with the URLs of a running server: `{"base_url": …, "tls_url": …, "pid": …}`, without `tls_url` if TLS
/// is off. It exists only while the server is ready, and belongs to the server that has written it.
struct ReadyFile: Sendable {
    struct Content: Codable {
        let base_url: String
        let tls_url: String?
        let pid: Int32
    }

    /// The file cannot be written.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    let path: String
    /// Mark of the file that this process has written.
    private let written = LockedValue<FileFingerprint?>(nil)

    init(path: String) { self.path = path }

    /// Removes the ready file of a server that has ended.
    /// - Throws: `ValidationError` if the file is a running server's or is no ready file, or cannot be written.
    func claim() async throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw ValidationError(
                """
                --ready-file: the folder \(folder) does not exist or is not writable; create it, or name another one
                """)
        }
        guard let kind else { return }
        guard kind != .typeDirectory else { throw ValidationError("--ready-file: \(path) is a folder; name a file") }
        // An empty one may come from mktemp. Opening a pipe would wait for its other end.
        let content = kind == .typeRegular ? read() : nil
        guard content != nil || kind == .typeRegular && FileManager.default.contents(atPath: path)?.isEmpty == true
        else {
            throw ValidationError("--ready-file: \(path) exists and is no ready file; remove it, or name another file")
        }
        // The id alone may be another process's by now. In a container each server has 1.
        if let content, kill(content.pid, 0) == 0 || errno == EPERM,
            await Self.process(at: content.base_url) == content.pid
        {
            throw ValidationError(
                """
                --ready-file: \(path) belongs to the running server at \(content.base_url), process \(content.pid); \
                name another file, or stop that server
                """)
        }
        unlink(path)
    }

    /// Process of the server at a base URL; nil if none answers.
    private static func process(at baseURL: String) async -> Int32? {
        struct Liveness: Decodable {
            let pid: Int32
        }
        let answer = try? await OneRequest.answer("GET", "\(baseURL)/livez", within: .seconds(2))
        return answer.flatMap { try? JSONDocument($0.body).decode(Liveness.self).pid }
    }

    /// Writes the file atomically: a reader never sees half of it.
    /// - Throws: ``Problem``.
    func write(baseURL: String, tlsURL: String?) throws {
        guard kind == nil else {
            throw Problem(description: "--ready-file: \(path) came to be since the start; name another file")
        }
        let content = Content(base_url: baseURL, tls_url: tlsURL, pid: ProcessInfo.processInfo.processIdentifier)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            try encoder.encode(content).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw Problem(
                description: "--ready-file: \(path) cannot be written; check that its folder is writable and has room")
        }
        written.withLock { $0 = FileFingerprint(path: path) }
    }

    /// Kind of the file with the name; nil for none.
    private var kind: FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    /// The content; nil if the file does not exist or is not a ready file.
    func read() -> Content? {
        FileManager.default.contents(atPath: path).flatMap { try? JSONDocument($0).decode(Content.self) }
    }

    /// Removes the file that this process has written.
    func remove() {
        if let own = written.withLock({ $0 }), own == FileFingerprint(path: path) { unlink(path) }
    }
}

/// Ends a server that cannot tell that it is ready.
struct UnwrittenReadyFile: Service {
    let problems: AsyncThrowingStream<Void, any Error>

    func run() async throws { try await cancelWhenGracefulShutdown { for try await _ in problems {} } }
}
