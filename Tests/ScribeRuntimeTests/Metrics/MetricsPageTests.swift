import Foundation
import ScribeRuntime
import TestSupport
import Testing

struct MetricsPageTests {
    @Test("docs/metrics.md lists each metric; SCRIBE_WRITE_PAGES=1 writes it")
    func page() throws {
        let path = projectFile("docs/metrics.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        let start = try #require(page.range(of: "<!-- metrics -->\n")?.upperBound)
        let stop = try #require(page.range(of: "<!-- /metrics -->\n")?.lowerBound)
        let rows = Metric.allCases.map { metric in
            let labels = metric.labels.map { " `\($0)`" }.joined(separator: ",")
            return "| `\(metric.rawValue)` | \(metric.kind.rawValue) |\(labels) | \(metric.help) |"
        }
        let expected =
            "\n| metric | type | labels | what it says |\n|---|---|---|---|\n" + rows.joined(separator: "\n") + "\n\n"
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            try page.replacingCharacters(in: start..<stop, with: expected)
                .write(to: path, atomically: true, encoding: .utf8)
        } else {
            #expect(page[start..<stop] == expected)
        }
    }
}
