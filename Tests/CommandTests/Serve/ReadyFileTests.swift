import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import scribe_emulator

struct ReadyFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/ready.json"
    }

    private var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test(
        "a start replaces an empty ready file, and one of a server that does not run",
        arguments: [
            "", #"{"base_url":"http://127.0.0.1:1","pid":2147483647}"#,
            // Another process with the id: this one.
            #"{"base_url":"http://127.0.0.1:1","pid":\#(getpid())}"#,
        ])
    func leftover(content: String) async throws {
        try Data(content.utf8).write(to: URL(filePath: path))
        let file = ReadyFile(path: path)
        try await file.claim()
        #expect(self.content == nil)
        try file.write(baseURL: "http://127.0.0.1:2", tlsURL: nil)
        #expect(file.read()?.pid == getpid())
        file.remove()
        #expect(self.content == nil)
    }

    enum Kind: CaseIterable { case text, otherJSON, link, danglingLink, pipe, folder }

    @Test("a start refuses a ready file that is something else, and leaves it", arguments: Kind.allCases)
    func foreign(kind: Kind) async throws {
        let target = "\(folder.path)/target"
        switch kind {
        case .text: try Data("hello".utf8).write(to: URL(filePath: path))
        case .otherJSON: try Data(#"{"name":"package","version":"1"}"#.utf8).write(to: URL(filePath: path))
        case .link, .danglingLink:
            if kind == .link { try Data().write(to: URL(filePath: target)) }
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        case .pipe: #expect(mkfifo(path, 0o600) == 0)
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        await #expect(throws: ValidationError.self) { try await ReadyFile(path: path).claim() }
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
    }

    @Test("a server removes and replaces no ready file of another server")
    func others() async throws {
        let (first, second) = (ReadyFile(path: path), ReadyFile(path: path))
        try await first.claim()
        try await second.claim()
        second.remove()
        try first.write(baseURL: "http://127.0.0.1:1", tlsURL: nil)
        #expect(throws: ReadyFile.Problem.self) { try second.write(baseURL: "http://127.0.0.1:2", tlsURL: nil) }
        second.remove()
        #expect(content?.contains("127.0.0.1:1") == true)
        // The first one does not answer: its server is taken for dead.
        try await second.claim()
        try second.write(baseURL: "http://127.0.0.1:2", tlsURL: nil)
        first.remove()
        #expect(content?.contains("127.0.0.1:2") == true)
    }
}
