/// A note in Markdown, as headings, paragraphs and lists. Anything else of Markdown stays text.
enum NoteBlocks {
    /// - Returns: models of the blocks: each has a `heading`, a `text` or `items`.
    static func models(of markdown: String) -> [ConsoleViews.Model] {
        var blocks: [ConsoleViews.Model] = []
        var items: [String] = []
        func close() {
            if !items.isEmpty { blocks.append(block(items: items)) }
            items = []
        }
        for line in markdown.split(separator: "\n") {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("- ") || text.hasPrefix("* ") {
                items.append(String(text.dropFirst(2)))
                continue
            }
            close()
            let heading = text.drop { $0 == "#" }
            if heading.count < text.count, heading.hasPrefix(" ") {
                blocks.append(block(heading: String(heading.dropFirst())))
            } else if !text.isEmpty {
                blocks.append(block(text: String(text)))
            }
        }
        close()
        return blocks
    }

    private static func block(heading: String = "", text: String = "", items: [String] = []) -> ConsoleViews.Model {
        ["heading": heading, "text": text, "items": items, "hasItems": !items.isEmpty]
    }
}
