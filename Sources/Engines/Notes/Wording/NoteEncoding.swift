import Basics
import ScribeDomain

/// Encodes the sections of a note in its template's format.
struct NoteEncoding {
    typealias Section = (section: Template.Section, facts: [ClinicalFact])

    private let request: NoteRequest
    private let sections: [Section]
    private let wording: ([ClinicalFact], Template.Section) -> String

    /// - Parameters:
    ///   - sections: facts of each section of the template.
    ///   - wording: text of the facts of one section.
    init(
        _ request: NoteRequest, _ sections: [Section], wording: @escaping ([ClinicalFact], Template.Section) -> String
    ) {
        self.request = request
        self.sections = sections.filter { !$0.facts.isEmpty }
        self.wording = wording
    }

    var text: String {
        switch request.template.format {
        case .transcript: request.transcript
        case .json: text(.array(titled) { ["title": .string($0.title), "value": .string($0.text)] })
        case .ekaEMR: text(record)
        case .fhir:
            text(
                FHIRDocument(
                    request.template, sections, of: request.visit, transcript: request.transcript, wording: wording
                ).json)
        default:
            (["# \(request.template.name)"] + titled.map { "## \($0.title)\n\n\($0.text)" })
                .joined(separator: "\n\n") + "\n"
        }
    }

    /// Sections that have content, with their titles: an array of them is the note that Android shows (C-56). Without
    /// any fact the transcript itself is the note, so that the note is never silently empty.
    private var titled: [(title: String, text: String)] {
        guard sections.isEmpty else { return sections.map { ($0.section.title, wording($0.facts, $0.section)) } }
        return [("Conversation", request.transcript.lines.map { "- \($0)" }.joined(separator: "\n"))]
    }

    /// Note as the record of `eka_emr`: an object under `prescription`.
    private var record: JSON {
        var members: [String: JSONValue] = [:]
        for (section, facts) in sections {
            members[section.title] = .array(
                facts.map { fact in
                    // The text carries a medication's change; the record has no field for it.
                    var members = fact.details.filter { $0.key != "change" }.mapValues(JSONValue.string)
                    if members["name"] == nil { members["name"] = .string(fact.text) }
                    return .object(members)
                })
        }
        if members.isEmpty { members["notes"] = .array([.object(["name": .string(request.transcript)])]) }
        return ["prescription": .value(.object(members))]
    }

    private func text(_ json: JSON) -> String { String(decoding: json.bytes, as: UTF8.self) }
}

extension Template {
    /// Sections with the facts that belong into them.
    func filled(with facts: [ClinicalFact]) -> [NoteEncoding.Section] {
        sections.map { section in (section, facts.filter { takes($0, under: section) }) }
    }
}
