/// A part that users build their templates of (eka.md 2.9).
package struct TemplateSection: Hashable, Sendable {
    /// How the section is written: paragraphs or bullets.
    package enum Style: String, Hashable, Sendable, Codable, CaseIterable {
        case paragraph = "P"
        case bullets = "B"
    }

    package let id: SectionID
    package var title: String
    /// What belongs in it.
    package var summary: String
    package var style: Style
    package var example: String
    /// The section that this one was made from.
    package let parent: SectionID?
    /// Whether the server came with it: then it belongs to everyone and cannot be changed.
    package let isDefault: Bool
    /// Nil: follows from the title.
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

    /// What is written under it. Of a section that a user has made, the title's words tell; one that tells nothing
    /// stays empty, for nothing may be written that does not belong there.
    package var facts: [ClinicalFact.Kind] {
        if let givenFacts { return givenFacts }
        let words = (title + " " + summary).lowercased()
        return Self.keywords.filter { kind, keywords in
            // The present illness is no history, and a review of systems no visit.
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

    /// How notes are laid out by it.
    package var layout: Template.Section {
        Template.Section(title: title, facts: facts, isParagraph: style == .paragraph)
    }
}

/// A template that a user of a business has made. Everyone of the business can use it.
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

    /// As notes are written after it.
    /// - Parameter sections: those known, defaults and the business's own.
    package func template(with sections: [SectionID: TemplateSection], fallback: Template) -> Template {
        let known = sectionIDs.removingDuplicates().compactMap { sections[$0]?.layout }
        return Template(
            id: id, name: title, summary: summary, format: .markdown, bucket: .custom,
            sections: known.isEmpty ? fallback.sections : known, sectionIDs: sectionIDs
        )
    }
}
