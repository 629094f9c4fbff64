import Foundation
import Testing

/// Statements of the store outside the folder of SQLite, read from the source code.
struct StatementDialectTests {
    /// SQL that only SQLite takes. ``StoreSession`` has a function for each of these needs.
    private static let words = [
        "json_each", "json_extract", "json_set", "->>", "-> '$", "GLOB", "instr(", "group_concat", "iif(", "x''",
        "INSERT OR REPLACE", "INSERT OR IGNORE", "pragma_", "rowid", "datetime(",
    ]

    @Test("statements of store operations use only SQL that SQLite and PostgreSQL both take", arguments: words)
    func common(word: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/ScribeStore")
        let files = try #require(FileManager.default.enumerator(atPath: folder.path()))
            .compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("SQLite/") && !$0.hasPrefix("PostgreSQL/") }
        #expect(files.count > 40)
        for file in files {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            #expect(!lines.contains { $0.contains(word) }, "\(file) has \(word)")
        }
    }
}
