import Foundation
import ScribeDomain

/// What an ambient session was started with and told since, beside what any transaction is (suki.md 3.1, 5).
struct AmbientTerms: Hashable, Sendable {
    /// How far its recording is.
    enum Stage: String, Hashable, Sendable, CaseIterable, Comparable {
        case created
        /// A socket was opened.
        case ready
        /// Audio has come.
        case running

        static func < (one: Stage, other: Stage) -> Bool { one.order < other.order }

        private var order: Int {
            switch self {
            case .created: 0
            case .ready: 1
            case .running: 2
            }
        }
    }

    /// The visit, which may have several sessions.
    let encounter: String
    var stage: Stage = .created
    var context = AmbientContext.empty
    /// The sections that are to be told in sentences, chosen when it ended.
    var narrativeSections: [String] = []

    init(encounter: String) { self.encounter = encounter }

    /// The template under which its note is kept.
    static let template = TemplateID("ambient_note")

    /// As it is stored. Its names never change.
    /// - Returns: nil for what no ambient session has.
    init?(stored json: JSONValue) {
        guard let encounter = json["encounter"]?.stringValue,
            let stage = json["stage"]?.stringValue.flatMap(Stage.init)
        else { return nil }
        self.encounter = encounter
        self.stage = stage
        context = AmbientContext(stored: json["context"] ?? .object([:]))
        if case .array(let sections)? = json["narrativeSections"] {
            narrativeSections = sections.compactMap(\.stringValue)
        }
    }

    var stored: JSONValue {
        .object([
            "encounter": .string(encounter), "stage": .string(stage.rawValue), "context": context.json,
            "narrativeSections": .array(narrativeSections.map { .string($0) }),
        ])
    }

    /// What a note that was kept says: the title and the text of each section.
    static func sections(in note: String) -> [(title: String, text: String)] {
        guard case .array(let sections)? = JSONDocument.untrusted(Data(note.utf8), as: JSONValue.self) else {
            return []
        }
        return sections.compactMap { section in
            section["title"]?.stringValue.map { ($0, section["value"]?.stringValue ?? "") }
        }
    }

    /// What is written of it. Sections share what was said: what one names is not told under a wider one, and what has
    /// no section of its own among them is told with the present illness.
    func template(_ id: TemplateID) -> Template {
        let codes = context.sections.isEmpty ? AmbientSection.usual : context.sections
        let wanted = codes.compactMap { AmbientSection[$0] }
        return Template(
            id: id, name: "Ambient Note", format: .json, bucket: .custom,
            sections: wanted.map { section in
                var facts = section.facts
                if section.code == AmbientSection.presentIllness {
                    facts += AmbientSection.toldWithIllness.filter { kind in
                        !wanted.contains { $0.facts.contains(kind) && $0.words.isEmpty }
                    }
                }
                // Vital signs and results are part of an examination where they have no section of their own.
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

/// What the API says of a session (suki.md 3.8).
enum AmbientStatus: String, Hashable, Sendable {
    case created, ready, running, completed, skipped, failed, aborted
}
