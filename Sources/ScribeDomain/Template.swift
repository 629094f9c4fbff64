/// How a note is laid out, and in which encoding it is delivered.
package struct Template: Hashable, Sendable {
    /// The documented `type` of a result and with it the encoding of its value (eka.md 5.3).
    package enum Format: String, Hashable, Sendable, Codable, CaseIterable {
        /// UTF-8 markdown.
        case markdown
        /// A JSON array of `{title, value}`, which Android shows as sections (C-56).
        case json
        /// The JSON object of Eka's medical record.
        case ekaEMR = "eka_emr"
        /// The transcript itself.
        case transcript
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
        package func takes(_ fact: ClinicalFact) -> Bool {
            guard facts.contains(fact.kind) else { return false }
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

    package init(
        id: TemplateID, name: String, summary: String? = nil, format: Format, bucket: Bucket, sections: [Section],
        sectionIDs: [SectionID] = []
    ) {
        self.id = id
        self.name = name
        self.summary = summary
        self.format = format
        self.bucket = bucket
        self.sections = sections
        self.sectionIDs = sectionIDs
    }
}

/// Something of medical meaning that was said, with the words that say it.
package struct ClinicalFact: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        case complaint
        case history
        case allergy
        case examination
        case assessment
        case medication
        case advice
        case followUp = "follow_up"
    }

    package let kind: Kind
    /// The words as they were spoken.
    package let text: String
    /// Named parts of the words, for example `dose` and `frequency` of a medication.
    package let details: [String: String]
    /// Where the words stand in the transcript; nil where that is not known.
    package let source: Range<String.Index>?

    package init(
        _ kind: Kind, _ text: String, details: [String: String] = [:], source: Range<String.Index>? = nil
    ) {
        self.kind = kind
        self.text = text
        self.details = details
        self.source = source
    }

    /// Facts that say the same are the same, wherever they were said.
    package static func == (first: Self, second: Self) -> Bool {
        first.kind == second.kind && first.text == second.text && first.details == second.details
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(text)
        hasher.combine(details)
    }
}
