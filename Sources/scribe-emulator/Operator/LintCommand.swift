import ArgumentParser
import Basics
import Foundation
import NIOCore
import ScribeHTTP
import ScribeServer

struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Print what the clients of a running server did wrong, and exit with 1 if there is an error.",
        discussion: """
            The rules look at recordings and at the requests that the server's journal still has.
              scribe-emulator lint
              scribe-emulator lint --transaction i-3f2504e0 --format sarif
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, sarif, junit
    }

    @OptionGroup var options: OperatorOptions<WholeWorld>

    @Option(help: "Only this recording.")
    var transaction: String?

    @Option(help: ArgumentHelp("Only requests from this time on, such as 2030-01-01T00:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Wait so long at most for the results of recordings.", valueName: "time"))
    var timeout = "30s"

    @Option(help: "Format of the report.")
    var format = Format.text

    func validate() throws {
        if let since, Date(iso8601: since) == nil {
            throw ValidationError("--since \(since): give a time, such as 2030-01-01T00:00:00Z")
        }
        guard ClockDuration(timeout)?.duration ?? .seconds(601) <= .seconds(600) else {
            throw ValidationError("--timeout \(timeout): give a time of at most 600s, such as 30s")
        }
    }

    func run() async throws {
        let client = try options.client()
        let conditions = ["transaction": transaction, "since": since].compactMapValues(\.self)
        let data = try await LintReport.read(client, conditions, timeout: timeout)
        let report: LintReport = try client.read(data)
        switch options.json ? .json : format {
        case .text: print(report.text)
        case .json: print(String(decoding: data, as: UTF8.self))
        case .sarif: print(String(decoding: report.sarif.bytes, as: UTF8.self))
        case .junit: print(report.junit)
        }
        if report.errors > 0 { throw ExitCode.failure }
    }
}

/// Answer of `GET /__admin/lint`.
struct LintReport: Decodable {
    struct Finding: Decodable {
        let rule: String
        let severity: String
        let row: String
        let message: String
        let transaction: String?
        let requests: [Int]

        /// Address of the first request, or of the recording.
        var address: String {
            let recording = transaction.map { "transactions/\(PercentEncoding.encode($0, keepingSlashes: false))" }
            return requests.first.map { "requests/\($0)" } ?? recording ?? "lint"
        }

        /// Recording, and numbers of requests in the journal; empty for none.
        var place: String {
            let numbers = requests.map(String.init).joined(separator: ", ")
            let request = requests.isEmpty ? nil : "\(requests.count == 1 ? "request" : "requests") \(numbers)"
            return [transaction, request].compactMap(\.self).joined(separator: ", ")
        }
    }

    struct Rule: Decodable {
        let id: String
        let severity: String
        let row: String
        let title: String
        let why: String
        let fix: String
    }

    let errors: Int
    let warnings: Int
    let notes: Int
    let recordings: Int
    let pending: Int
    let requests: Int
    let dropped: Int
    let findings: [Finding]
    let rules: [Rule]

    /// Asks a server for its report.
    /// - Throws: `ExitCode`, after it wrote the reason to standard error.
    static func read(
        _ client: ControlClient, _ conditions: [String: String] = [:], timeout: String = "30s"
    ) async throws -> Data {
        let query = try FaultPairs([]).query(conditions.merging(["timeout": timeout]) { first, _ in first })
        let limit = (ClockDuration(timeout)?.duration ?? .zero) / .seconds(1)
        return try await client.data("GET", "lint\(query)", within: .seconds(30 + Int64(saturating: limit)))
    }

    /// The report for a person: each finding with its place, and once for each rule the consequence and the remedy.
    var text: String {
        var lines: [String] = []
        var explained: Set<String> = []
        for finding in findings {
            let place = finding.place.isEmpty ? "" : " (\(finding.place))"
            lines.append("\(finding.severity): \(finding.message)\(place) [\(finding.rule)]")
            guard explained.insert(finding.rule).inserted, let rule = rules.first(where: { $0.id == finding.rule })
            else { continue }
            lines += ["    \(rule.title) (\(rule.row)). \(rule.why)", "    \(rule.fix)"]
        }
        let counts = [errors.counted("error"), warnings.counted("warning"), notes.counted("note")]
        let gone = dropped > 0 ? "; \(dropped) earlier ones are gone: --journal-max keeps more" : ""
        if pending > 0 { lines.append("\(pending.counted("recording")) still without results: more may be found") }
        lines.append(
            "\(counts.joined(separator: ", ")) in \(recordings.counted("recording")) and "
                + "\(requests.counted("request"))\(gone)")
        return lines.joined(separator: "\n")
    }

    /// The report as SARIF 2.1.0, which code hosts and editors read.
    var sarif: JSON {
        [
            "version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "runs": .array([self]) { report in
                [
                    "tool": [
                        "driver": [
                            "name": "scribe-emulator", "version": .string(ScribeVersion.current),
                            "rules": .array(report.rules) { rule in
                                [
                                    "id": .string(rule.id), "shortDescription": ["text": .string("\(rule.title).")],
                                    "fullDescription": ["text": .string(rule.why)],
                                    "help": ["text": .string(rule.fix)],
                                    "defaultConfiguration": ["level": .string(rule.severity)],
                                    "properties": ["row": .string(rule.row)],
                                ]
                            },
                        ]
                    ],
                    "results": .array(report.findings) { finding in
                        [
                            "ruleId": .string(finding.rule), "level": .string(finding.severity),
                            "message": ["text": .string("\(finding.message).")],
                            "locations": .array([finding]) { finding in
                                [
                                    // Code hosts refuse a finding without a file.
                                    "physicalLocation": [
                                        "artifactLocation": ["uri": .string(finding.address)],
                                        "region": ["startLine": 1],
                                    ],
                                    "logicalLocations": .array([finding.place]) { ["fullyQualifiedName": .string($0)] },
                                ]
                            },
                        ]
                    },
                ]
            },
        ]
    }

    /// The report as JUnit's XML: a test for each rule, which fails if an error was found.
    var junit: String {
        let byRule = Dictionary(grouping: findings, by: \.rule)
        let tests = rules.map { rule in
            let found = byRule[rule.id] ?? []
            let lines = found.map { "\($0.severity): \($0.message) (\($0.place))" }.joined(separator: "\n")
            let text = "\(lines)\n\(rule.why) \(rule.fix)".escapedForMarkup
            let isFailed = found.contains { $0.severity == "error" }
            let content =
                isFailed
                ? #"<failure type="\#(rule.id)" message="\#("\(rule.title) (\(rule.row))".escapedForMarkup)">\#(text)</failure>"#
                : found.isEmpty ? "" : "<system-out>\(text)</system-out>"
            return #"    <testcase classname="lint" name="\#(rule.id)">\#(content)</testcase>"#
        }
        let failed = Set(findings.filter { $0.severity == "error" }.map(\.rule)).count
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
              <testsuite name="scribe-emulator lint" tests="\(rules.count)" failures="\(failed)" errors="0">
            \(tests.joined(separator: "\n"))
              </testsuite>
            </testsuites>
            """
    }
}
