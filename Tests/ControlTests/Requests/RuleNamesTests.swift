import Basics
import Foundation
import Journal
import ScribeDomain
import ScribeHTTP
import TestSupport
import Testing

@testable import Control

@Suite("The table of names in fault rules and in searches of the journal")
struct RuleNamesTests {
    private func problem(_ name: String, _ read: ([String: JSONValue]) throws -> Void) -> String {
        do {
            try read([name: .null])
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test("each name is read, and no other is")
    func names() {
        let rules = FaultRuleReader(operations: .documented)
        for name in RuleNames.ofRules.flatMap(\.names).flatMap(\.names) {
            #expect(!problem(name) { _ = try rules.rule(of: $0) }.contains("the nearest name is"), "\(name)")
        }
        let searches = JournalMatchReader(operations: .documented, others: [], families: [], mode: .full)
        let known = [RuleNames.conditions, .ofJournal].flatMap(\.names).flatMap(\.names)
        for name in known {
            #expect(!problem(name) { _ = try searches.match($0) }.contains("the nearest name is"), "\(name)")
        }
        let all = Set(RuleNames.ofRules.flatMap(\.names).flatMap(\.names))
        #expect(Set(FaultRuleReader.names).subtracting(all) == ["id"])
        #expect(Set(JournalMatchReader.names).subtracting(known).isEmpty)
    }

    @Test("docs/faults.md and docs/testing.md list the table; SCRIBE_WRITE_PAGES=1 writes it")
    func pages() throws {
        let places: [(page: String, mark: String, table: RuleNames)] = [
            ("faults", "conditions", .conditions), ("faults", "choice", .choice), ("faults", "requests", .requests),
            ("faults", "sockets", .sockets), ("faults", "results", .results), ("faults", "webhooks", .webhooks),
            ("testing", "journal", .ofJournal), ("testing", "expectation", .expectation),
        ]
        for (name, mark, table) in places {
            let path = projectFile("docs/\(name).md")
            let page = try String(contentsOf: path, encoding: .utf8)
            let start = try #require(page.range(of: "<!-- \(mark) -->\n")?.upperBound)
            let stop = try #require(page.range(of: "<!-- /\(mark) -->\n")?.lowerBound)
            let expected = "\n| name | what it is |\n|---|---|\n\(table.rows)\n"
            if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
                try page.replacingCharacters(in: start..<stop, with: expected)
                    .write(to: path, atomically: true, encoding: .utf8)
            } else {
                #expect(page[start..<stop] == expected)
            }
        }
    }
}
