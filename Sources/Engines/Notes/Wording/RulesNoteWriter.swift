import Basics
package import ScribeDomain

/// Note writer by rules: deterministic, within milliseconds, and only from spoken words. For testing, not for care.
package struct RulesNoteWriter: NoteWriter {
    package let name = "rules"
    package let isInstant = true
    private let facts: ClinicalFacts

    package init(facts: ClinicalFacts) { self.facts = facts }

    /// Writes a note in the spoken language, with a warning if another language was requested.
    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        WrittenNote(
            value: try await EventLoopOffload.run(bytes: request.transcript.utf8.count) {
                try await text(request)
            },
            warnings: request.languageWarnings, by: name)
    }

    private func text(_ request: NoteRequest) async throws -> String {
        let facts = try await facts.facts(in: request.transcript, isDictated: request.isDictated)
        return NoteEncoding(request, request.template.filled(with: facts), wording: Self.text).text
    }

    /// Text of one section's facts, as a paragraph or a list.
    package static func text(of facts: [ClinicalFact], under section: Template.Section) -> String {
        section.isParagraph
            ? NoteSentences.paragraph(facts) : facts.map { "- \($0.text)" }.joined(separator: "\n")
    }
}
