import Basics
import ScribeDomain

/// Shape of the answer that a language model gives for a template, as a JSON Schema, and the reader of such answers.
///
/// The schema keeps to what strict structured outputs take: every property is required, optional ones may be null, and
/// no object has other properties.
struct NoteSchema {
    /// Statement of a section.
    struct Statement: Hashable {
        let text: String
        /// Kind of fact; nil in formats that do not ask for it.
        var kind: ClinicalFact.Kind?
        /// Named parts, as of a ``ClinicalFact``.
        var details: [String: String] = [:]
    }

    /// Difference between an answer and the schema, in words that a model can act on.
    struct Mismatch: Error {
        let problem: String
    }

    private enum Item {
        case sentence
        /// Object with the named parts of a fact; also with its kind and text if there are kinds to choose from.
        case record(kinds: [ClinicalFact.Kind], parts: [String])
    }

    private let items: [Item]
    /// Name of each section's property, in the order of the sections.
    let keys: [String]

    private static let medicineParts = ["dose", "frequency", "duration"]
    /// Most statements of a section and most bytes of one text.
    private static let mostStatements = 200
    private static let longestText = 2000

    init(_ template: Template) {
        var known = Set<String>()
        keys = template.sections.enumerated().map { index, section in
            let key = Self.key(of: section.title)
            if !key.isEmpty, known.insert(key).inserted { return key }
            var number = index + 1
            while !known.insert("section_\(number)").inserted { number += 1 }
            return "section_\(number)"
        }
        items = template.sections.map { section in
            let parts = ["name"] + (section.facts.contains(.medication) ? Self.medicineParts : [])
            return switch template.format {
            case .ekaEMR: .record(kinds: [], parts: parts)
            case .fhir: .record(kinds: section.facts, parts: parts)
            default: .sentence
            }
        }
    }

    /// Name for a section of this title: ASCII letters and digits, words joined by `_`.
    private static func key(of title: String) -> String {
        String(
            title.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "_").prefix(60)
        )
    }

    /// The JSON Schema.
    var json: JSON {
        Self.object(zip(keys, items).map { ($0, ["type": ["array", "null"], "items": Self.json(of: $1)]) })
    }

    private static func json(of item: Item) -> JSON {
        switch item {
        case .sentence: return ["type": "string"]
        case .record(let kinds, let parts):
            let optional = parts.map {
                ($0, ["type": $0 == "name" && kinds.isEmpty ? "string" : ["string", "null"]] as JSON)
            }
            guard !kinds.isEmpty else { return object(optional) }
            let kind: JSON = ["type": "string", "enum": .array(kinds) { .string($0.rawValue) }]
            return object([("kind", kind), ("text", ["type": "string"])] + optional)
        }
    }

    private static func object(_ properties: [(name: String, value: JSON)]) -> JSON {
        [
            "type": "object", "properties": .object(properties), "required": .array(properties) { .string($0.name) },
            "additionalProperties": false,
        ]
    }

    // MARK: Answers

    /// Reads an answer: the statements of each section, in the order of the sections.
    func statements(in answer: JSONValue) throws(Mismatch) -> [[Statement]] {
        guard case .object(let members) = answer else { throw Mismatch(problem: "the answer is no JSON object") }
        let others = Set(members.keys).subtracting(keys)
        guard others.isEmpty else { throw Mismatch(problem: "the object has properties that the schema lacks") }
        var sections: [[Statement]] = []
        for (key, item) in zip(keys, items) {
            switch members[key] {
            case nil:
                throw Mismatch(problem: "the property \(key) is missing; it is null for a section without content")
            case .null?: sections.append([])
            case .array(let values)?:
                guard values.count <= Self.mostStatements else {
                    throw Mismatch(problem: "\(key) has more than \(Self.mostStatements) elements")
                }
                var statements: [Statement] = []
                for value in values { statements.append(try Self.statement(value, item, key)) }
                sections.append(statements.filter { !$0.text.allSatisfy(\.isWhitespace) })
            default: throw Mismatch(problem: "\(key) must be an array or null")
            }
        }
        return sections
    }

    private static func statement(_ value: JSONValue, _ item: Item, _ key: String) throws(Mismatch) -> Statement {
        switch (item, value) {
        case (.sentence, .string(let text)): return Statement(text: try checked(text, key))
        case (.record(let kinds, let parts), .object(let members)):
            let names = (kinds.isEmpty ? [] : ["kind", "text"]) + parts
            guard Set(members.keys) == Set(names) else {
                throw Mismatch(
                    problem: "each element of \(key) must have the properties \(names.joined(separator: ", "))")
            }
            var details: [String: String] = [:]
            for name in parts where members[name] != .null {
                guard let text = members[name]?.stringValue else {
                    throw Mismatch(problem: "\(name) in \(key) must be a string or null")
                }
                if !text.allSatisfy(\.isWhitespace) { details[name] = try checked(text, key) }
            }
            guard !kinds.isEmpty else { return Statement(text: details["name"] ?? "", details: details) }
            guard let kind = members["kind"]?.stringValue.flatMap(ClinicalFact.Kind.init), kinds.contains(kind) else {
                throw Mismatch(problem: "kind in \(key) is none of the named kinds")
            }
            guard let text = members["text"]?.stringValue else {
                throw Mismatch(problem: "text in \(key) must be a string")
            }
            return Statement(text: try checked(text, key), kind: kind, details: details)
        case (.sentence, _): throw Mismatch(problem: "each element of \(key) must be a string")
        case (.record, _): throw Mismatch(problem: "each element of \(key) must be an object")
        }
    }

    private static func checked(_ text: String, _ key: String) throws(Mismatch) -> String {
        guard text.utf8.count <= longestText else { throw Mismatch(problem: "a text in \(key) is too long") }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension NoteSchema.Statement {
    /// Text and parts of the statement, for a check against the transcript.
    var words: String {
        ([text] + details.sorted { $0.key < $1.key }.map(\.value).filter { $0 != text }).joined(separator: ", ")
    }
}
