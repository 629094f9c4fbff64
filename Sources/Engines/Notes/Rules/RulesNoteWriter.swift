package import ScribeDomain

/// Writes notes by rules: deterministic, in milliseconds, and never more than was said. For testing; no basis for care.
package struct RulesNoteWriter: NoteWriter {
    package let name = "rules"
    package let isInstant = true
    private let facts: ClinicalFacts

    package init(facts: ClinicalFacts) { self.facts = facts }

    /// In the language that was spoken: rules do not translate, and say so.
    package func write(_ request: NoteRequest) async throws -> WrittenNote {
        let untranslated = Diagnostic(.notTranslated, "The note is in the language that was spoken")
        return WrittenNote(
            value: try await LongWork.run(bytes: request.transcript.utf8.count) {
                try await text(request.template, request.transcript)
            },
            warnings: request.isInSpokenLanguage ? [] : [untranslated])
    }

    private func text(_ template: Template, _ transcript: String) async throws -> String {
        let facts = try await facts.facts(in: transcript)
        return switch template.format {
        case .transcript: transcript
        case .json: text(titled(sections(template, facts, transcript)))
        case .ekaEMR: text(record(template, facts, transcript))
        default: markdown(template, facts, transcript)
        }
    }

    /// The template's sections that have something in them. When nothing at all was recognised, the words themselves
    /// are the note: never a silent empty success.
    private func sections(
        _ template: Template, _ facts: [ClinicalFact], _ transcript: String
    ) -> [(section: Template.Section, text: String)] {
        let filled = template.sections.compactMap { section -> (section: Template.Section, text: String)? in
            let facts = facts.filter { template.takes($0, under: section) }
            guard !facts.isEmpty else { return nil }
            return (section, Self.text(of: facts, under: section))
        }
        guard filled.isEmpty else { return filled }
        let lines = transcript.lines.map { "- \($0)" }.joined(separator: "\n")
        return [(Template.Section(title: "Conversation", facts: []), lines)]
    }

    /// The facts of one section, as a paragraph or as a list.
    package static func text(of facts: [ClinicalFact], under section: Template.Section) -> String {
        section.isParagraph
            ? NoteSentences.paragraph(facts) : facts.map { "- \($0.text)" }.joined(separator: "\n")
    }

    private func markdown(_ template: Template, _ facts: [ClinicalFact], _ transcript: String) -> String {
        let body = sections(template, facts, transcript).map { "## \($0.title)\n\n\($1)" }
        return (["# \(template.name)"] + body).joined(separator: "\n\n") + "\n"
    }

    /// Sections as Android shows them (C-56).
    private func titled(_ sections: [(section: Template.Section, text: String)]) -> JSON {
        .array(sections) { ["title": .string($0.section.title), "value": .string($0.text)] }
    }

    /// The record that `eka_emr` delivers, as an object under `prescription`.
    private func record(_ template: Template, _ facts: [ClinicalFact], _ transcript: String) -> JSON {
        var sections: [String: JSONValue] = [:]
        for section in template.sections {
            let items = facts.filter { template.takes($0, under: section) }.map { fact in
                // What is to become of a medication is in its text; the record has no place for it.
                var members = fact.details.filter { $0.key != "change" }.mapValues(JSONValue.string)
                if members["name"] == nil { members["name"] = .string(fact.text) }
                return JSONValue.object(members)
            }
            if !items.isEmpty { sections[section.title] = .array(items) }
        }
        if sections.isEmpty { sections["notes"] = .array([.object(["name": .string(transcript)])]) }
        return ["prescription": .value(.object(sections))]
    }

    private func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }
}
