import Basics
import Foundation

/// JSON text as markup for people: one member a line, coloured, and as it was sent but for its white space.
struct JSONLayout {
    /// Longest text, in bytes: the markup of a body of commas is twenty times as long.
    private static let longest = 32 << 10
    /// Deepest level that is indented further than the one before.
    private static let deepest = 20

    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0
    private var markup = ""

    /// - Returns: nil for a text that is no object or array in JSON, or a long one.
    static func markup(of text: String) -> ConsoleViews.Markup? {
        let bytes = Array(text.utf8)
        guard bytes.count <= longest, let first = bytes.first(where: { !isSpace($0) }), "{[".utf8.contains(first),
            JSONDocument.untrusted(Data(bytes), as: JSONValue.self) != nil
        else { return nil }
        var layout = JSONLayout(bytes: bytes)
        layout.write()
        return ConsoleViews.Markup(renderText: layout.markup)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func write() {
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                startLine()
                add(byte)
            case UInt8(ascii: ","):
                add(byte)
                startLine()
            case UInt8(ascii: ":"): markup += ": "
            case UInt8(ascii: "\""): addText()
            default: addWord()
            }
        }
    }

    /// An empty object or array stays on its line.
    private mutating func open(_ byte: UInt8) {
        add(byte)
        skipSpace()
        if place < bytes.count, "}]".utf8.contains(bytes[place]) {
            add(bytes[place])
            place += 1
        } else {
            depth += 1
            startLine()
        }
    }

    private mutating func addText() {
        let begin = place - 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place = min(place + 1, bytes.count)
        let end = place
        skipSpace()
        let isName = place < bytes.count && bytes[place] == UInt8(ascii: ":")
        add(bytes[begin..<end], style: isName ? "k" : "s")
    }

    /// A number, `true`, `false` or `null`.
    private mutating func addWord() {
        let begin = place - 1
        while place < bytes.count, !Self.isSpace(bytes[place]), !",:]}".utf8.contains(bytes[place]) { place += 1 }
        add(bytes[begin..<place], style: "w")
    }

    private mutating func add(_ slice: ArraySlice<UInt8>, style: String) {
        let text = String(decoding: slice, as: UTF8.self).escapedForMarkup(singleQuotes: true)
        markup += "<span class=\"\(style)\">\(text)</span>"
    }

    private mutating func add(_ byte: UInt8) { markup.unicodeScalars.append(Unicode.Scalar(byte)) }

    private mutating func startLine() { markup += "\n" + String(repeating: "  ", count: min(depth, Self.deepest)) }

    private mutating func next() -> UInt8? {
        skipSpace()
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func skipSpace() {
        while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x0D, 0x09].contains(byte) }
}
