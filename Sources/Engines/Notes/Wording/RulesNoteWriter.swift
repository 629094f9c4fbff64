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
        let untranslated = Diagnostic(.notTranslated, "The note is in the language that was spoken")
        return WrittenNote(
            value: try await EventLoopOffload.run(bytes: request.transcript.utf8.count) {
                try await text(request)
            },
            warnings: request.isInSpokenLanguage ? [] : [untranslated])
    }

    private func text(_ request: NoteRequest) async throws -> String {
        let (template, transcript) = (request.template, request.transcript)
        let facts = try await facts.facts(in: transcript, isDictated: request.isDictated)
        return switch template.format {
        case .transcript: transcript
        case .json: text(titled(sections(template, facts, transcript)))
        case .ekaEMR: text(record(template, facts, transcript))
        case .fhir: text(FHIRDocument(template, facts, of: request.visit, transcript: transcript).json)
        default: markdown(template, facts, transcript)
        }
    }

    /// Sections of the note that have content. Without any recognised fact the transcript itself is the note, so that
    /// the note is never silently empty.
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

    /// Text of one section's facts, as a paragraph or a list.
    package static func text(of facts: [ClinicalFact], under section: Template.Section) -> String {
        section.isParagraph
            ? NoteSentences.paragraph(facts) : facts.map { "- \($0.text)" }.joined(separator: "\n")
    }

    private func markdown(_ template: Template, _ facts: [ClinicalFact], _ transcript: String) -> String {
        let body = sections(template, facts, transcript).map { "## \($0.title)\n\n\($1)" }
        return (["# \(template.name)"] + body).joined(separator: "\n\n") + "\n"
    }

    /// Note as a JSON list of sections, as Android shows it (C-56).
    private func titled(_ sections: [(section: Template.Section, text: String)]) -> JSON {
        .array(sections) { ["title": .string($0.section.title), "value": .string($0.text)] }
    }

    /// Note as the record of `eka_emr`: an object under `prescription`.
    private func record(_ template: Template, _ facts: [ClinicalFact], _ transcript: String) -> JSON {
        var sections: [String: JSONValue] = [:]
        for section in template.sections {
            let items = facts.filter { template.takes($0, under: section) }.map { fact in
                // The text carries a medication's change; the record has no field for it.
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
