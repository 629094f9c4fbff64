import Basics
import Engines
import Foundation
import ScribeDomain

/// Section of a note in the events of an AG-UI run, in the shape that the vendor's web app reads
/// (`features/session/ag-ui/types.ts`).
struct RunSection: Hashable {
    enum Payload: Hashable {
        case list([String])
        /// Markdown text.
        case narrative(String)
    }

    /// Unique within the note: lower-case letters, digits and `_`.
    let key: String
    let title: String
    let payload: Payload
    let order: Int

    var json: JSON {
        let (kind, content): (JSON, JSON) =
            switch payload {
            case .list(let items): ("LIST", ["items": .array(items, JSON.string)])
            case .narrative(let text): ("NARRATIVE", ["markdown": .string(text)])
            }
        return [
            "key": .string(key), "display_name": .string(title), "kind": kind, "payload": content,
            "order": .integer(order), "status": ["state": "ready", "error": .null], "edited_by_user": false,
        ]
    }

    /// Splits a document into sections without empty ones. Sections of an EMR record are sorted by key, all others keep
    /// the document's order.
    static func sections(of document: ResultDocument) -> [RunSection] {
        let value = document.value ?? ""
        let parts =
            switch document.format {
            case .markdown: partsOfMarkdown(value, untitled: document.name)
            case .json: partsOfJSON(value) ?? [(document.name, value)]
            case .ekaEMR: partsOfEMRRecord(value) ?? [(document.name, value)]
            default: [(document.name, value)]
            }
        var taken: Set<String> = []
        return parts.filter { !$0.text.isEmpty }.enumerated().map { order, part in
            let base = slug(part.title)
            var key = base
            var number = 2
            while !taken.insert(key).inserted {
                key = "\(base)_\(number)"
                number += 1
            }
            return RunSection(key: key, title: part.title, payload: payload(of: part.text), order: order)
        }
    }

    private typealias Part = (title: String, text: String)

    /// Splits Markdown at its `##` headings. The note's own title (`#`) is no section.
    private static func partsOfMarkdown(_ markdown: String, untitled: String) -> [Part] {
        var parts: [(title: String, lines: [Substring])] = [(untitled, [])]
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") {
                parts.append((String(line.dropFirst(3)), []))
            } else if !line.hasPrefix("# ") {
                parts[parts.count - 1].lines.append(line)
            }
        }
        return parts.map { ($0.title, $0.lines.joined(separator: "\n").trimmingCharacters(in: .newlines)) }
    }

    private static func partsOfJSON(_ json: String) -> [Part]? {
        struct Section: Decodable {
            let title: String
            let value: String
        }
        return JSONDocument.untrusted(Data(json.utf8), as: [Section].self)?.map { ($0.title, $0.value) }
    }

    private static func partsOfEMRRecord(_ json: String) -> [Part]? {
        guard let record = JSONDocument.untrusted(Data(json.utf8), as: JSONValue.self),
            case .object(let members)? = record["prescription"]
        else { return nil }
        return members.sorted { $0.key < $1.key }.map { title, value in
            guard case .array(let items) = value else { return (title, value.scalarText ?? "") }
            return (title, items.map { "- \(line(of: $0))" }.joined(separator: "\n"))
        }
    }

    /// Joins an item's values into one line, its name first.
    private static func line(of item: JSONValue) -> String {
        guard case .object(let members) = item else { return item.scalarText ?? "" }
        let rest = members.filter { $0.key != "name" }.sorted { $0.key < $1.key }.compactMap(\.value.scalarText)
        return ([members["name"]?.scalarText].compactMap(\.self) + rest).joined(separator: ", ")
    }

    private static func payload(of text: String) -> Payload {
        let lines = text.split(separator: "\n")
        guard !lines.isEmpty, lines.allSatisfy({ $0.hasPrefix("- ") }) else { return .narrative(text) }
        return .list(lines.map { String($0.dropFirst(2)) })
    }

    private static func slug(_ title: String) -> String {
        let words = title.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let slug = words.joined(separator: "_")
        return slug.first?.isLetter == true ? slug : "section" + (slug.isEmpty ? "" : "_\(slug)")
    }
}
