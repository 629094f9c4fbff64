import ScribeDomain

/// Section of a note with the place of each statement in the transcript, for `note --explain`. Its JSON is the shape
/// of that command alone; no API has it.
struct ExplainedSection: Encodable {
    struct Statement: Encodable {
        let kind: String
        let text: String
        /// Name of the rule that has read the statement.
        let rule: String?
        /// The UTF-8 offset of the first byte; absent for a statement without one place.
        let start: Int?
        /// The UTF-8 offset behind the last byte.
        let end: Int?

        init(_ fact: ClinicalFact, in transcript: String) {
            func offset(_ index: String.Index) -> Int {
                transcript.utf8.distance(from: transcript.startIndex, to: index)
            }
            kind = fact.kind.rawValue
            text = fact.text
            rule = fact.rule
            start = fact.source.map { offset($0.lowerBound) }
            end = fact.source.map { offset($0.upperBound) }
        }
    }

    let title: String
    let statements: [Statement]

    /// The sections of a template that have statements.
    static func all(of template: Template, _ facts: [ClinicalFact], in transcript: String) -> [ExplainedSection] {
        template.sections.compactMap { section in
            let statements = facts.filter { template.takes($0, under: section) }
            guard !statements.isEmpty else { return nil }
            return ExplainedSection(
                title: section.title, statements: statements.map { Statement($0, in: transcript) })
        }
    }

    /// The section as text: its title, and two lines for each statement, first its text, then its place, its rule and
    /// the words there.
    func lines(of transcript: String) -> [String] {
        let bytes = Array(transcript.utf8)
        return [title]
            + statements.flatMap { statement in
                guard let start = statement.start, let end = statement.end else { return ["- \(statement.text)"] }
                return [
                    "- \(statement.text)",
                    "    \(start)–\(end) (\(statement.rule ?? "")): \(String(decoding: bytes[start..<end], as: UTF8.self))",
                ]
            }
    }
}
