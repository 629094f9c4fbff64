import Engines
import ScribeDomain

/// A note as headings, paragraphs and lists, whatever its format. Anything else of Markdown stays text.
enum NoteBlocks {
    /// Block of a note, with the model of its template.
    struct Block: Hashable, Sendable {
        /// Item of a list: a statement, and details of it.
        struct Item: Hashable, Sendable {
            let text: String
            var detail = ""
        }

        var heading = ""
        /// Heading within a section.
        var subheading = ""
        var text = ""
        var items: [Item] = []

        var model: ConsoleViews.Model {
            [
                "heading": heading, "subheading": subheading, "text": text, "hasItems": !items.isEmpty,
                "items": items.map { ["item": $0.text, "about": $0.detail] } as [ConsoleViews.Model],
            ]
        }
    }

    /// Most blocks of a note. What is beyond them is in the raw text.
    private static let mostBlocks = 1000
    /// Longest JSON that is shown in sections, in bytes.
    private static let longestJSON = 256 << 10

    /// The blocks of a note; nil for a text that has no form, such as a transcript or broken JSON.
    /// - Parameter order: Names of the note's sections in the order of its template.
    static func blocks(of text: String, _ format: Template.Format, order: [String] = []) -> [Block]? {
        let blocks: [Block]? =
            switch format {
            case .markdown: self.blocks(of: text)
            case .transcript: nil
            default: text.utf8.count <= longestJSON ? JSONNote.blocks(of: text, order: order) : nil
            }
        guard let blocks, !blocks.isEmpty else { return nil }
        guard blocks.count > mostBlocks else { return blocks }
        return blocks.prefix(mostBlocks) + [Block(text: "The rest is in the raw text.")]
    }

    /// The blocks of a note in Markdown.
    static func blocks(of markdown: String) -> [Block] {
        var blocks: [Block] = []
        var items: [Block.Item] = []
        func close() {
            if !items.isEmpty { blocks.append(Block(items: items)) }
            items = []
        }
        for line in markdown.split(whereSeparator: \.isNewline) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("- ") || text.hasPrefix("* ") {
                items.append(.init(text: String(text.dropFirst(2))))
                continue
            }
            close()
            let heading = text.drop { $0 == "#" }
            if heading.count < text.count, heading.hasPrefix(" ") {
                blocks.append(Block(heading: String(heading.dropFirst())))
            } else if !text.isEmpty {
                blocks.append(Block(text: String(text)))
            }
        }
        close()
        return blocks
    }
}
