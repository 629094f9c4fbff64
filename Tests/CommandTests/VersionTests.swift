import Foundation
import ScribeServer
import TestSupport
import Testing

struct VersionTests {
    @Test("the newest version in the changelog has a date and is the program's version")
    func changelog() throws {
        let changelog = try String(contentsOf: projectFile("CHANGELOG.md"), encoding: .utf8)
        let headings = changelog.split(separator: "\n").filter { $0.hasPrefix("## ") }
        let newest = try #require(headings.first { $0 != "## Unreleased" })
        let found = try #require(newest.wholeMatch(of: /## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)/))
        #expect(found.1 == ScribeVersion.current)
    }
}
