import Basics
import Testing

extension TestScribeClient {
    /// Expects that lint has notes at most: nothing that a shipped client should be told.
    package func expectNotesAtMost() async throws {
        let report = try await get("/__admin/lint")
        try #require(report.status == 200, "\(report.text)")
        #expect(report.json["recordings"] != .integer(0))
        let findings = report.json["findings"]?.arrayValue ?? []
        let grave = findings.filter { $0["severity"] != .string("note") }
        #expect(grave.isEmpty, "\(grave.map { "\($0["rule"]?.scalarText ?? ""): \($0["message"]?.scalarText ?? "")" })")
    }
}
