import Foundation
import TestSupport
import Testing

@testable import ScribeStore

/// Statements of the store outside the folder of SQLite, read from the source code.
struct StatementDialectTests {
    /// SQL that only SQLite takes. ``StoreSession`` has a function for each of these needs.
    private static let words = [
        "json_each", "json_extract", "json_set", "->>", "-> '$", "GLOB", "instr(", "group_concat", "iif(", "x''",
        "INSERT OR REPLACE", "INSERT OR IGNORE", "pragma_", "rowid", "datetime(",
    ]

    @Test("statements of store operations use only SQL that SQLite and PostgreSQL both take", arguments: words)
    func common(word: String) throws {
        let files = try Self.files()
        #expect(files.count > 40)
        for (file, text) in files {
            let lines = text.split(separator: "\n").filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            #expect(!lines.contains { $0.contains(word) }, "\(file) has \(word)")
        }
    }

    @Test(
        "PostgreSQL prepares every statement that is written out in the code",
        .enabled(if: TestDatabase.isPostgreSQL, "needs SCRIBE_TEST_DATABASE"))
    func prepared() throws {
        let fixture = try StoreFixture()
        guard case .postgreSQL(let address) = fixture.place, let library = LibPQ.shared else { return }
        let connection = try PostgreSQLConnection(administering: address.url, library: library)
        try connection.execute(address.setup)
        let session = PostgreSQLSession(connection: connection)
        let statement = /"(?:"")?\s*((?:SELECT|INSERT|UPDATE|DELETE|WITH) [^"]*)"/
        var count = 0
        for (file, text) in try Self.files() {
            for match in text.matches(of: statement) {
                let sql = match.1
                    .replacing(/\\\((?:db|session)\.list\((\d)\)\)/) { session.list(Int($0.1) ?? 0) }
                    .replacing(/\\\(db\.isAmong\((\d)\)\)/) { session.isAmong(Int($0.1) ?? 0) }
                    .replacing(/\\\(db\.isAmongIntegers\((\d)\)\)/) { session.isAmongIntegers(Int($0.1) ?? 0) }
                // What is put together from parts is run by the tests of its function.
                // A text without its last parenthesis ends at a quotation mark within the statement.
                let isWhole = sql.count(where: { $0 == "(" }) == sql.count(where: { $0 == ")" })
                guard !sql.contains("\\("), isWhole else { continue }
                count += 1
                #expect(throws: Never.self, "\(file): \(sql)") {
                    try connection.execute("PREPARE tried AS \(PostgreSQLStatement.of(String(sql)).sql)")
                    try connection.execute("DEALLOCATE tried")
                }
            }
        }
        #expect(count > 120)
    }

    /// Files of the store outside the folders of its engines, with their texts.
    private static func files() throws -> [(name: String, text: String)] {
        let folder = projectFile("Sources/ScribeStore")
        return try #require(FileManager.default.enumerator(atPath: folder.path()))
            .compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.contains("SQLite/") && !$0.contains("PostgreSQL/") }
            .map { ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }
}
