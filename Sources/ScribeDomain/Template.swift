/// How a note is laid out, and in which encoding it is delivered.
package struct Template: Hashable, Sendable {
    /// The documented `type` of a result and with it the encoding of its value (eka.md 5.3).
    /// A family or an engine adds those that it alone writes.
    package struct Format: StringIdentifier {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// UTF-8 markdown.
        package static let markdown = Format("markdown")
        /// A JSON array of `{title, value}`, which Android shows as sections (C-56).
        package static let json = Format("json")
        /// The transcript itself.
        package static let transcript = Format("transcript")
    }

    /// The list of `template_results` that a result is delivered in.
    package enum Bucket: String, Hashable, Sendable, Codable, CaseIterable {
        case custom
        case integration
    }

    /// A heading, and the kinds of facts that belong under it.
    package struct Section: Hashable, Sendable {
        package let title: String
        package let facts: [ClinicalFact.Kind]
        /// Whether the facts are told one after another instead of as a list.
        package let isParagraph: Bool
        /// Only facts that speak of one of these; empty for all.
        package let mentioning: [String]
        /// No facts that speak of one of these.
        package let notMentioning: [String]

        package init(
            title: String, facts: [ClinicalFact.Kind], isParagraph: Bool = false, mentioning: [String] = [],
            notMentioning: [String] = []
        ) {
            self.title = title
            self.facts = facts
            self.isParagraph = isParagraph
            self.mentioning = mentioning
            self.notMentioning = notMentioning
        }

        /// Whether a fact belongs under it.
        /// - Parameter isElsewhere: whether its kind has a section of its own, so that it is not told under a broader one.
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
    /// What it is for, as lists of templates say it.
    package let summary: String?
    package let format: Format
    package let bucket: Bucket
    package let sections: [Section]
    /// The sections among those that users can build templates of; empty where the layout is fixed.
    package let sectionIDs: [SectionID]
    /// Kinds that have a section of their own in the template that this one is a part of.
    private let toldElsewhere: Set<ClinicalFact.Kind>

    /// Whether a fact belongs under one of its sections. What brought the patient in is part of the illness, too.
    package func takes(_ fact: ClinicalFact, under section: Section) -> Bool {
        let isElsewhere =
            fact.kind != .chiefComplaint
            && (toldElsewhere.contains(fact.kind) || sections.contains { $0.facts.contains(fact.kind) })
        return section.takes(fact, isElsewhere: isElsewhere)
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
        self.toldElsewhere = toldElsewhere
    }
}
