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
    /// Kinds of facts given at creation; nil derives them from the section's words.
    let givenFacts: [ClinicalFact.Kind]?

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
