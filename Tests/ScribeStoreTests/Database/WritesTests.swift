import Foundation
import TestSupport
import Testing

/// `writes.txt`: every write of the store with its scopes, made from the code.
struct WritesTests {
    private static let sources = projectFile("Sources/ScribeStore")

    private struct Write {
        let file: String
        let function: String
        let scopes: String
    }

    private static func swiftFiles(in folder: URL) throws -> [URL] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return names.filter { $0.hasSuffix(".swift") }.map { folder.appendingPathComponent($0) }
    }

    /// The writes of a file, each with the function that it stands in.
    private static func writes(in file: URL) throws -> [Write] {
        let text = try String(contentsOf: file, encoding: .utf8)
        var functions: [(place: String.Index, name: String)] = []
        for match in text.matches(of: /func (\w+)/) { functions.append((match.range.lowerBound, String(match.1))) }
        // A call may have its scopes on lines of their own.
        let writes = text.matches(of: /database\.write\(\s*([^{]+?)\s*\) \{/).map { match in
            Write(
                file: file.deletingPathExtension().lastPathComponent,
                function: functions.last { $0.place < match.range.lowerBound }?.name ?? "",
                scopes: match.1.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " "))
        }
        let calls = text.matches(of: /database\.write\(/).count
        #expect(writes.count == calls, "\(file.lastPathComponent): a write without scopes, or of a form not known here")
        return writes
    }

    @Test("writes.txt lists every write with its scopes; SCRIBE_WRITE_PAGES=1 writes it")
    func list() throws {
        let file = projectFile("Tests/ScribeStoreTests/Database/writes.txt")
        let writes = try Self.swiftFiles(in: Self.sources).flatMap(Self.writes(in:))
        #expect(writes.count > 60)
        let written = writes.map { "\($0.file) | \($0.function) | \($0.scopes)\n" }.joined()
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            try written.write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(try String(contentsOf: file, encoding: .utf8) == written, "writes.txt is stale: make pages")
        }
    }

    @Test("only one source folder imports GRDB")
    func oneDriver() throws {
        for file in try Self.swiftFiles(in: projectFile("Sources")) {
            let text = try String(contentsOf: file, encoding: .utf8)
            guard text.contains(/^(package )?import GRDB/.anchorsMatchLineEndings()) else { continue }
            #expect(file.path.contains("/ScribeStore/Database/SQLite/"), "\(file.lastPathComponent)")
        }
    }
}
