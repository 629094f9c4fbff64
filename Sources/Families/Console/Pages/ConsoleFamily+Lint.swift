import Journal
import Lint
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// Findings of lint about a recording or a request.
extension ConsoleFamily {
    /// Most findings of a page.
    private static let maxFindings = 20
    /// Most links of a finding.
    private static let maxLinks = 8
    /// Most files whose format is told.
    private static let maxLintedFiles = 50

    /// The findings, the gravest first; none without a journal that keeps what clients sent.
    func lint(_ scope: Lint.Scope, _ pageRequest: PageRequest) async throws -> [ConsoleViews.Model] {
        let runtime = pageRequest.context.world.runtime
        guard let journal = runtime.journal, journal.settings.mode.isFull else { return [] }
        var scope = scope
        // A page is read again with each change.
        scope.mostFiles = Self.maxLintedFiles
        scope.isNarrow = true
        let report = try await Lint(runtime, journal).report(on: scope)
        return report.findings.prefix(Self.maxFindings).map { finding in
            [
                "severity": finding.severity.name, "message": finding.message, "rule": finding.rule.id,
                "row": finding.rule.row, "title": finding.rule.title, "why": finding.rule.why,
                "fix": finding.rule.fix, "isGrave": finding.severity != .note,
                "style": finding.severity == .error ? "bad" : finding.severity == .warning ? "warn" : "",
                "more": finding.requests.count > Self.maxLinks
                    ? "and \(finding.requests.count - Self.maxLinks) more" : "",
                "requests": finding.requests.prefix(Self.maxLinks).map {
                    ["number": $0, "href": "/\(Self.root)/requests/\($0)\(pageRequest.query)"]
                } as [ConsoleViews.Model],
            ]
        }
    }
}
