import Basics
import Foundation
import ScribeDomain

/// State of an ambient session that other transactions do not have (suki.md 3.1, 5).
struct AmbientTerms: Hashable, Sendable {
    /// Stage of an ambient session's recording.
    enum Stage: String, Hashable, Sendable {
        case created
        /// A socket was opened.
        case ready
        /// Audio has arrived.
        case running
    }

    /// Id of the visit, which may have several sessions.
    let encounter: String
    var stage: Stage = .created
    var context = AmbientContext.empty
    /// Sections written in sentences, chosen at the session's end.
    var narrativeSections: [String] = []

    init(encounter: String) { self.encounter = encounter }

    /// Template id of an ambient session's note.
    static let template = TemplateID("ambient_note")

    /// Decodes stored terms. Their names never change.
    /// - Returns: nil for the terms of another kind of transaction.
    init?(stored json: JSONValue) {
        guard let encounter = json["encounter"]?.stringValue,
            let stage = json["stage"]?.stringValue.flatMap(Stage.init)
        else { return nil }
        self.encounter = encounter
        self.stage = stage
        context = AmbientContext(stored: json["context"] ?? .object([:]))
        narrativeSections = (json["narrativeSections"]?.arrayValue ?? []).compactMap(\.stringValue)
    }

    var stored: JSONValue {
        .object([
            "encounter": .string(encounter), "stage": .string(stage.rawValue), "context": context.json,
            "narrativeSections": .array(narrativeSections.map { .string($0) }),
        ])
    }

    /// Decodes a stored note into the title and text of each section.
    static func sections(in note: String) -> [(title: String, text: String)] {
        let sections = JSONDocument.untrusted(Data(note.utf8), as: JSONValue.self)?.arrayValue ?? []
        return sections.compactMap { section in
            section["title"]?.stringValue.map { ($0, section["value"]?.stringValue ?? "") }
        }
    }

    /// Builds the template of an ambient session's note from the requested sections.
    ///
    /// A wider section does not repeat a narrower one. Histories without a section join the present illness.
    func template(_ id: TemplateID) -> Template {
        let codes = context.sections.isEmpty ? AmbientSection.defaultCodes : context.sections
        let wanted = codes.compactMap { AmbientSection[$0] }
        return Template(
            id: id, name: "Ambient Note", format: .json, bucket: .custom,
            sections: wanted.map { section in
                var facts = section.facts
                if section.code == AmbientSection.presentIllness {
                    facts += AmbientSection.joinsPresentIllness.filter { kind in
                        !wanted.contains { $0.facts.contains(kind) && $0.words.isEmpty }
                    }
                }
                // Vital signs and results join the examination if no section holds them.
                if section.facts == [.examination] {
                    facts += [.vital, .result].filter { kind in !wanted.contains { $0.facts.contains(kind) } }
                }
                let narrower = wanted.filter { !$0.words.isEmpty && !Set($0.facts).isDisjoint(with: facts) }
                return Template.Section(
                    title: section.title, facts: facts, isParagraph: narrativeSections.contains(section.code),
                    mentioning: section.words, notMentioning: section.words.isEmpty ? narrower.flatMap(\.words) : [])
            })
    }
}

/// Status of an ambient session in the API's words (suki.md 3.8).
enum AmbientStatus: String, Hashable, Sendable {
    case created, ready, running, completed, skipped, failed, aborted

    var isTerminal: Bool {
        switch self {
        case .created, .ready, .running: false
        case .completed, .skipped, .failed, .aborted: true
        }
    }
}
