/// Note template: layout of a note and encoding of its value.
package struct Template: Hashable, Sendable {
    /// Format of a result: the documented `type`, which sets the encoding of the value (eka.md 5.3).
    /// Families and engines add the formats that only they write.
    package struct Format: StringIdentifier {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Markdown in UTF-8.
        package static let markdown = Format("markdown")
        /// JSON array of `{title, value}`, which Android shows as sections (C-56).
        package static let json = Format("json")
        /// Plain transcript.
        package static let transcript = Format("transcript")
    }

    /// List of `template_results` that a result appears in.
    package enum Bucket: String, Hashable, Sendable, Codable, CaseIterable {
        case custom
        case integration
    }

    /// Section of a note: a heading with the kinds of facts below it.
    package struct Section: Hashable, Sendable {
        package let title: String
        package let facts: [ClinicalFact.Kind]
        /// Whether facts are written as a paragraph instead of a list.
        package let isParagraph: Bool
        /// Words of which a fact must contain one; empty for all facts.
        package let mentioning: [String]
        /// Words of which a fact must contain none.
        package let notMentioning: [String]
        /// Description of the content, and an example of it, for writers that read; empty without them.
        package let summary: String
        package let example: String

        package init(
            title: String, facts: [ClinicalFact.Kind], isParagraph: Bool = false, mentioning: [String] = [],
            notMentioning: [String] = [], summary: String = "", example: String = ""
        ) {
            self.summary = summary
            self.example = example
            self.title = title
            self.facts = facts
            self.isParagraph = isParagraph
            self.mentioning = mentioning
            self.notMentioning = notMentioning
        }

        /// Whether a fact belongs into this section.
        /// - Parameter isElsewhere: whether the fact's kind has a section of its own, so
        ///   that broader sections leave it out.
        func takes(_ fact: ClinicalFact, isElsewhere: Bool) -> Bool {
            let isBroader = fact.kind.broader.map(facts.contains) ?? false
            guard facts.contains(fact.kind) || isBroader && !isElsewhere else { return false }
            guard !mentioning.isEmpty || !notMentioning.isEmpty else { return true }
            let words = fact.text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "-" }
            let spoken = " " + words.joined(separator: " ") + " "
            func speaks(of word: String) -> Bool { spoken.contains(" \(word) ") }
            return (mentioning.isEmpty || mentioning.contains(where: speaks)) && !notMentioning.contains(where: speaks)
        }
    }

    package let id: TemplateID
    package let name: String
    /// Purpose of the template, shown in lists.
    package let summary: String?
    package let format: Format
    package let bucket: Bucket
    package let sections: [Section]
    /// Ids of the sections that users can build templates of; empty for a fixed layout.
    package let sectionIDs: [SectionID]
    /// Kinds of facts that have a section of their own, here or in the enclosing template.
    private let kinds: Set<ClinicalFact.Kind>

    /// Whether a fact belongs into a section of this template. Chief complaints also belong to the present illness.
    package func takes(_ fact: ClinicalFact, under section: Section) -> Bool {
        section.takes(fact, isElsewhere: fact.kind != .chiefComplaint && kinds.contains(fact.kind))
    }

    package init(
        id: TemplateID, name: String, summary: String? = nil, format: Format, bucket: Bucket, sections: [Section],
        sectionIDs: [SectionID] = [], toldElsewhere: Set<ClinicalFact.Kind> = []
    ) {
        self.id = id
        self.name = name
        self.summary = summary
        self.format = format
        self.bucket = bucket
        self.sections = sections
        self.sectionIDs = sectionIDs
        kinds = toldElsewhere.union(sections.lazy.flatMap(\.facts))
    }
}
