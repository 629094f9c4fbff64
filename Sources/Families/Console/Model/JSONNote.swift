import Basics
import Foundation

/// A note in JSON as blocks: sections with titles, a medical record, a FHIR document, or any other object.
struct JSONNote {
    typealias Block = NoteBlocks.Block

    /// Deepest object with headings of its own.
    private static let deepest = 3
    /// Longest value within an item, in characters.
    private static let longestDetail = 300
    /// Members that name an object, the best first.
    private static let names = ["name", "title", "text", "display"]

    private let order: [String]
    private var blocks: [Block] = []

    /// - Returns: nil if the text is no object or array.
    static func blocks(of text: String, order: [String]) -> [Block]? {
        guard let value = JSONDocument.untrusted(Data(text.utf8), as: JSONValue.self) else { return nil }
        var note = JSONNote(order: order)
        switch value {
        case .object(let members) where members["resourceType"] == .string("Bundle"): note.addDocument(value)
        case .object, .array: note.add(value, depth: 0)
        default: return nil
        }
        return note.blocks
    }

    private init(order: [String]) { self.order = order }

    private mutating func add(_ value: JSONValue, depth: Int) {
        switch value {
        case .null: break
        case .string(let text): blocks += NoteBlocks.blocks(of: text)
        case .array(let values): add(values, depth: depth)
        case .object(let members):
            // A record has all that it says under one name, such as `prescription`.
            if depth == 0, members.count == 1, let only = members.first?.value, case .object = only {
                return add(only, depth: 0)
            }
            guard depth < Self.deepest else { return blocks.append(Block(items: [item(of: value)])) }
            for (name, value) in sorted(members) { add(value, titled: Self.words(name), depth: depth) }
        default: value.scalarText.map { blocks.append(Block(text: $0)) }
        }
    }

    private mutating func add(_ values: [JSONValue], depth: Int) {
        var items: [Block.Item] = []
        for value in values {
            if let title = value["title"]?.stringValue, let content = value["value"] {
                if !items.isEmpty { blocks.append(Block(items: items)) }
                items = []
                add(content, titled: title, depth: depth)
            } else if value != .null {
                items.append(item(of: value))
            }
        }
        if !items.isEmpty { blocks.append(Block(items: items)) }
    }

    private mutating func add(_ value: JSONValue, titled title: String, depth: Int) {
        guard ![.null, .array([]), .object([:])].contains(value) else { return }
        blocks.append(depth == 0 ? Block(heading: title) : Block(subheading: title))
        add(value, depth: depth + 1)
    }

    private func item(of value: JSONValue) -> Block.Item {
        guard case .object(var members) = value else { return .init(text: Self.short(value)) }
        let name = Self.names.first { members[$0]?.stringValue?.isEmpty == false }
        let text = name.flatMap { members.removeValue(forKey: $0)?.stringValue }
        let details = sorted(members).filter { $0.value != .null }
            .map { "\(Self.words($0.name).lowercased()) \(Self.short($0.value))" }.joined(separator: ", ")
        return text.map { .init(text: $0, detail: details) } ?? .init(text: details)
    }

    private func sorted(_ members: [String: JSONValue]) -> [(name: String, value: JSONValue)] {
        func place(_ name: String) -> Int { order.firstIndex(of: name) ?? order.count }
        return members.map { ($0.key, $0.value) }.sorted { (place($0.0), $0.0) < (place($1.0), $1.0) }
    }

    private static func short(_ value: JSONValue) -> String {
        let text = value.scalarText ?? String(decoding: JSON.value(value).bytes, as: UTF8.self)
        return text.count > longestDetail ? "\(text.prefix(longestDetail))…" : text
    }

    /// `past_history` and `pastHistory` as `Past history`.
    private static func words(_ name: String) -> String {
        var words = ""
        for character in name {
            let isBegin = character.isUppercase && words.last?.isLowercase == true
            words += character == "_" ? " " : isBegin ? " \(character.lowercased())" : String(character)
        }
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    // MARK: FHIR

    /// Adds the sections of a document's Composition.
    private mutating func addDocument(_ bundle: JSONValue) {
        let resources = (bundle["entry"]?.arrayValue ?? []).compactMap { $0["resource"] }
        let composition = resources.first { $0["resourceType"] == .string("Composition") }
        for section in composition?["section"]?.arrayValue ?? [] {
            blocks.append(Block(heading: section["title"]?.stringValue ?? "Section"))
            blocks += NoteBlocks.blocks(of: Self.text(ofNarrative: section["text"]?["div"]?.stringValue ?? ""))
        }
    }

    /// The words of a narrative in XHTML, its items as those of a list in Markdown.
    private static func text(ofNarrative narrative: String) -> String {
        var text = ""
        for piece in narrative.split(separator: "<", omittingEmptySubsequences: true) {
            guard let end = piece.firstIndex(of: ">") else { continue }
            switch piece[..<end].prefix(while: { $0 != " " }) {
            case "li": text += "- "
            case "/li", "/p", "br", "br/": text += "\n"
            default: break
            }
            text += piece[piece.index(after: end)...]
        }
        let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        return entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
