import ScribeDomain

/// A section of a note with the place of each statement in the transcript. The JSON shape is this tool's own, and no
/// client's.
struct ExplainedSection: Encodable {
    struct Statement: Encodable {
        let kind: String
        let text: String
        /// In bytes of UTF-8; absent for a statement without one place.
        let start: Int?
        /// One byte behind the last one.
        let end: Int?

        init(_ fact: ClinicalFact, in transcript: String) {
            func offset(_ index: String.Index) -> Int {
                transcript.utf8.distance(from: transcript.startIndex, to: index)
            }
            kind = fact.kind.rawValue
            text = fact.text
            start = fact.source.map { offset($0.lowerBound) }
            end = fact.source.map { offset($0.upperBound) }
        }
    }

    let title: String
    let statements: [Statement]

    /// The sections of a template that something was said about.
    static func all(of template: Template, _ facts: [ClinicalFact], in transcript: String) -> [ExplainedSection] {
        template.sections.compactMap { section in
            let statements = facts.filter { template.takes($0, under: section) }
            guard !statements.isEmpty else { return nil }
            return ExplainedSection(
                title: section.title, statements: statements.map { Statement($0, in: transcript) })
        }
    }

    /// The title, and two lines for each statement: its text, then its place with the words there.
    func lines(of transcript: String) -> [String] {
        let bytes = Array(transcript.utf8)
        return [title]
            + statements.flatMap { statement in
                guard let start = statement.start, let end = statement.end else { return ["- \(statement.text)"] }
                return [
                    "- \(statement.text)",
                    "    \(start)–\(end): \(String(decoding: bytes[start..<end], as: UTF8.self))",
                ]
            }
    }
}
