import Basics
import Foundation
import Hummingbird
import Journal
import Lint
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// `/__admin/lint`: what the clients of a namespace did wrong, by the rules of ``LintRule/all``.
struct LintRoutes: Sendable {
    let runtime: Runtime

    static func add(to router: WorldRoutes<Self>) { router.get("lint", use: report) }

    @Sendable private func report(_ request: Request, _ context: ScribeContext) async throws -> Response {
        guard let journal = runtime.journal else { throw JournalProblem.off }
        var members: [String: JSONValue] = [:]
        for (name, value) in request.query where name != "namespace" { members[String(name)] = .string(String(value)) }
        let fields = JSONFields(members, readsTexts: true)
        try fields.requireKnown(["transaction", "business", "since", "timeout"])
        guard journal.settings.mode.isFull else { throw JournalProblem.noContent }
        var scope = Lint.Scope()
        if let id = try fields.text("transaction") {
            guard TransactionID.isValid(id) else { throw fields.problem("transaction", "is not a transaction id") }
            scope.transaction = TransactionID(id)
        }
        scope.business = try fields.text("business").map { BusinessID($0) }
        if let text = try fields.text("since") {
            guard let time = Date(iso8601: text) else {
                throw fields.problem("since", "must be a time, such as 2030-01-01T00:00:00Z")
            }
            scope.since = time
        }
        let lint = Lint(runtime, journal)
        if let limit = try fields.duration("timeout", upTo: "600s") {
            try await lint.wait(on: scope, atMost: limit, until: context.clientDisconnect())
        }
        let report = try await context.cancellingOnDisconnect { [scope] in try await lint.report(on: scope) }
        return try await .longJSON(.ok, report.json)
    }
}

extension Lint.Report {
    fileprivate var json: JSON {
        [
            "errors": .integer(count(of: .error)), "warnings": .integer(count(of: .warning)),
            "notes": .integer(count(of: .note)), "recordings": .integer(recordings), "pending": .integer(pending),
            "requests": .integer(exchanges),
            "dropped": .integer(dropped), "findings": .array(findings, \.json), "rules": .array(LintRule.all, \.json),
        ]
    }
}

extension LintFinding {
    /// Most requests that an answer names of a finding.
    private static let mostRequests = 20

    fileprivate var json: JSON {
        [
            "rule": .string(rule.id), "severity": .string(severity.name), "row": .string(rule.row),
            "message": .string(message), "transaction": recording.map { .string($0.id.rawValue) },
            "business": recording.map { .string($0.business.rawValue) }, "sdk": sdk.map(JSON.string),
            "requests": .array(requests.prefix(Self.mostRequests)) { .integer($0) },
        ]
    }
}

extension LintRule {
    fileprivate var json: JSON {
        [
            "id": .string(id), "severity": .string(severity.name), "row": .string(row), "title": .string(title),
            "why": .string(why), "fix": .string(fix),
            "shipped_by": .array(shippedBy, JSON.string),
        ]
    }
}
