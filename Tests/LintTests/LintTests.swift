import Basics
import Foundation
import HTTPTypes
import Journal
import ScribeDomain
import ScribeHTTP
import ScribeServer
import ServerTestSupport
import TestSupport
import Testing

@testable import Lint

@Suite("Lint tells what a client did wrong")
struct LintTests {
    @Test("a seeded fault is found, and named by its rule and row", arguments: SeededFault.all)
    func seeded(fault: SeededFault) async throws {
        try await LintBench.run { bench in
            try await fault.seed(bench)
            let found = try await bench.report().findings
            let match = found.first { $0.rule == fault.rule.id }
            let finding = try #require(match, "\(found.map(\.rule))")
            #expect(finding.severity == fault.severity.name)
            #expect(finding.row == fault.rule.row)
            #expect(!finding.message.contains("eyJ"))
            // Nothing worse is found along with it.
            let worse = found.filter { $0.rule != fault.rule.id && $0.severity == "error" }
            #expect(worse.isEmpty, "\(worse)")
            // The console reads no more of the journal than may be about a recording.
            guard let id = finding.transaction else { return }
            let headers: HTTPFields = [
                .secFetchSite: "none", .secFetchMode: "navigate", .secFetchDest: "document",
            ]
            let page = try await bench.anonymous.get("/__console/consultations/b-demo/\(id)", headers: headers).text
            #expect(page.contains("\(fault.rule.id), "), "\(fault.rule.id)")
        }
    }

    @Test("each rule has a seeded fault")
    func all() {
        let seeded =
            SeededFault.all.map(\.rule.id) + SocketRulesTests.seeded.map(\.id) + WebhookRulesTests.seeded.map(\.id)
        #expect(Set(LintRule.all.map(\.id)).subtracting(seeded).sorted() == [])
        #expect(Set(LintRule.all.map(\.id)).count == LintRule.all.count)
    }

    @Test("a recording as shipped recorders make it has no finding")
    func clean() async throws {
        try await LintBench.run { bench in
            try await bench.consultation()
            let report = try await bench.report()
            #expect(report.findings.map(\.rule) == [])
            #expect(report.errors == 0)
        }
    }

    @Test("a report is about one recording, or about what came since a time, if the call says so")
    func scope() async throws {
        try await LintBench.run { bench in
            _ = try await bench.client.initialise("t-1")
            try await bench.put("1.wav")
            try await bench.stop(["1.wav"])
            bench.clock.advance(by: .seconds(60))
            let later = bench.clock.now.iso8601Milliseconds
            _ = try await bench.client.initialise("t-2")
            #expect(try await bench.report().findings.map(\.transaction) == ["t-1"])
            #expect(try await bench.report("?transaction=t-1").findings.count == 1)
            #expect(try await bench.report("?transaction=t-2").findings.isEmpty)
            #expect(try await bench.report("?since=\(later)").findings.isEmpty)
            #expect(try await bench.client.get("/__admin/lint?transaction=t-3").status == 404)
            #expect(try await bench.client.get("/__admin/lint?transaction=t-1&business=other").status == 404)
        }
    }

    @Test(
        "a call that is no question about findings is refused",
        arguments: [
            ("?since=yesterday", "since"), ("?transaktion=t-1", "transaction"),
        ])
    func refused(query: String, word: String) async throws {
        try await LintBench.run { bench in
            let answer = try await bench.client.get("/__admin/lint\(query)")
            #expect(answer.status == 400)
            #expect(try answer["detail"].contains(word))
        }
    }

    @Test("without a journal, or with one of metadata, nothing can be said")
    func journalOff() async throws {
        try await LintBench.run({ $0.configuration.journalMode = .off }) { bench in
            let answer = try await bench.client.get("/__admin/lint")
            #expect(answer.status == 409)
        }
        try await LintBench.run({ $0.configuration.journalMode = .metadata }) { bench in
            let answer = try await bench.client.get("/__admin/lint")
            #expect(answer.status == 409)
            #expect(try answer["code"] == "journal_without_content")
        }
    }

    @Test("after the journal has dropped the beginning of a recording, nothing is said to be missing")
    func dropped() async throws {
        try await LintBench.run({ $0.configuration.journal.entries = 3 }) { bench in
            try await bench.record()
            try await bench.end()
            for _ in 0..<3 { _ = try await bench.client.get("/voice/api/v2/config") }
            #expect(try await bench.report("?transaction=t-1").findings.map(\.rule) == [])
        }
    }

    @Test("a report with a timeout waits for the results of committed recordings, and tells what is still to come")
    func pending() async throws {
        try await LintBench.run { bench in
            try await bench.record(["1.wav"], listed: ["1.wav", "2.wav"])
            let found = try await bench.report("?timeout=30s").findings
            #expect(found.map(\.rule).contains("chunk-missing"))
            #expect(try await bench.client.get("/__admin/lint?timeout=601s").status == 400)
        }
    }

    @Test("two tenants with recordings of one name are told apart")
    func tenants() async throws {
        try await LintBench.run { bench in
            try await bench.consultation()
            let other = try await bench.anonymous.login("dev-limited", "dev-limited-secret")
            for _ in 0..<5 { _ = try await other.status("t-1") }
            let found = try await bench.report("?transaction=t-1").findings
            #expect(found.map(\.rule) == [])
        }
    }

    @Test("rows are those of the fidelity page or sections of a protocol page, and rules are sentences")
    func rows() throws {
        let fidelity = try String(contentsOf: projectFile("Tests/fidelity.yaml"), encoding: .utf8)
        for rule in LintRule.all {
            #expect(rule.id.allSatisfy { $0.isLowercase || $0 == "-" })
            #expect(rule.why.hasSuffix(".") && rule.fix.hasSuffix(".") && !rule.title.hasSuffix("."), "\(rule.id)")
            if let anchor = rule.row.firstIndex(of: "#") {
                let page = try String(contentsOf: projectFile("docs/\(rule.row[..<anchor])"), encoding: .utf8)
                let slugs = page.split(separator: "\n").filter { $0.hasPrefix("#") }
                    .map { $0.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-") }
                #expect(slugs.contains(String(rule.row[anchor...].dropFirst())), "\(rule.id): \(rule.row)")
                continue
            }
            let words = rule.row.split(separator: " ")
            if words.count == 1 {
                #expect(fidelity.contains("- id: \(rule.row)\n"), "\(rule.id): \(rule.row)")
                continue
            }
            let page = try String(contentsOf: projectFile("docs/protocol/\(words[0])"), encoding: .utf8)
            let isHeading = page.contains("## \(words[1]). ") || page.contains("### \(words[1]) ")
            #expect(isHeading, "\(rule.id): \(rule.row)")
        }
    }

    @Test("docs/lint.md lists the rules; SCRIBE_WRITE_PAGES=1 writes it")
    func page() throws {
        let path = projectFile("docs/lint.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        let start = try #require(page.range(of: "<!-- rules -->\n")?.upperBound)
        let stop = try #require(page.range(of: "<!-- /rules -->\n")?.lowerBound)
        let rows = LintRule.all.map { rule in
            let row =
                rule.row.contains("#")
                ? "[\(rule.row.prefix { $0 != "#" })](\(rule.row))"
                : "[\(rule.row)](\(rule.row.hasPrefix("eka.md") ? "protocol/eka.md" : "fidelity.md"))"
            let shipped =
                rule.shippedBy.isEmpty ? "" : " Note for \(rule.shippedBy.joined(separator: ", "))."
            return
                "| `\(rule.id)` | \(rule.severity.name) | \(rule.title). \(rule.why)\(shipped) | \(rule.fix) | \(row) |"
        }
        let expected =
            "\n| rule | severity | mistake and consequence | remedy | row |\n|---|---|---|---|---|\n"
            + rows.joined(separator: "\n") + "\n\n"
        if ProcessInfo.processInfo.environment["SCRIBE_WRITE_PAGES"] == "1" {
            try page.replacingCharacters(in: start..<stop, with: expected).write(
                to: path, atomically: true, encoding: .utf8)
        } else {
            #expect(page[start..<stop] == expected)
        }
    }
}
