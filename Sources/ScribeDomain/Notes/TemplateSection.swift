/// Section that users can build templates from (eka.md 2.9).
package struct TemplateSection: Hashable, Sendable {
    /// Style of a section's text: paragraph or bullets.
    package enum Style: String, Hashable, Sendable, Codable, CaseIterable {
        case paragraph = "P"
        case bullets = "B"
    }

    package let id: SectionID
    package var title: String
    /// Description of the section's content.
    package var summary: String
    package var style: Style
    package var example: String
    /// Id of the section that this one was copied from; nil for none.
    package let parent: SectionID?
    /// Whether the section ships with the server: all businesses share it, and clients cannot change it.
    package let isDefault: Bool
    /// Kinds of facts given at creation; nil derives them from the title.
    private let givenFacts: [ClinicalFact.Kind]?

    package init(
        id: SectionID, title: String, summary: String, style: Style, example: String, parent: SectionID? = nil,
        isDefault: Bool = false, facts: [ClinicalFact.Kind]? = nil
    ) {
        self.id = id
        self.title = title
        self.summary = summary
        self.style = style
        self.example = example
        self.parent = parent
        self.isDefault = isDefault
        self.givenFacts = facts
    }

    /// Kinds of facts in the section. The title's words decide for a section that a user made.
    /// A title without a known word leaves the section empty, so that no unrelated fact appears there.
    package var facts: [ClinicalFact.Kind] {
        if let givenFacts { return givenFacts }
        let words = (title + " " + summary).lowercased()
        return Self.keywords.filter { kind, keywords in
            // "Present illness" is no history, and "review of systems" is no follow-up visit.
            let isOther =
                kind == .history && words.contains("present illness")
                || kind == .followUp && words.contains("of systems")
            return !isOther && keywords.contains { words.contains($0) }
        }.map(\.kind)
    }

    private static let keywords: [(kind: ClinicalFact.Kind, words: [String])] = [
        (.complaint, ["complaint", "symptom", "presenting", "present illness", "subjective"]),
        (.presentIllness, ["present illness", "presenting", "subjective", "hpi"]),
        (.negative, ["present illness", "review of systems", "subjective", "negatives", "hpi"]),
        (.history, ["history", "subjective", "comorbid"]),
        (.allergy, ["allerg", "intoleran"]),
        (.examination, ["exam", "vital", "objective", "finding", "result"]),
        (.assessment, ["assessment", "diagnos", "impression"]),
        (.medication, ["medic", "prescription", "drug", "treatment", "plan"]),
        (.advice, ["advice", "instruction", "counsel", "lifestyle", "plan"]),
        (.followUp, ["follow", "review", "next visit", "plan"]),
    ]

    /// Layout of the section in notes.
    package var layout: Template.Section {
        Template.Section(
            title: title, facts: facts, isParagraph: style == .paragraph, summary: summary, example: example)
    }
}

/// Template made by a user of a business; all users of the business can use it.
package struct CustomTemplate: Hashable, Sendable {
    package let id: TemplateID
    package var title: String
    package var summary: String?
    package var sectionIDs: [SectionID]

    package init(id: TemplateID, title: String, summary: String?, sectionIDs: [SectionID]) {
        self.id = id
        self.title = title
        self.summary = summary
        self.sectionIDs = sectionIDs
    }

    /// Note template with the layout of its sections.
    /// - Parameter sections: known sections by id, defaults and the business's own.
    package func template(with sections: [SectionID: TemplateSection], fallback: Template) -> Template {
        let known = sectionIDs.removingDuplicates().compactMap { sections[$0]?.layout }
        return Template(
            id: id, name: title, summary: summary, format: .markdown, bucket: .custom,
            sections: known.isEmpty ? fallback.sections : known, sectionIDs: sectionIDs
        )
    }
}
