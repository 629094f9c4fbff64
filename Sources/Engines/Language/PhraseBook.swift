import Basics

/// Phrases by their first word, for fast lookup at each word of a transcript.
struct PhraseBook<Meaning: Sendable>: Sendable {
    struct Entry: Sendable {
        let phrase: [String]
        let meaning: Meaning
    }

    let byFirstWord: [String: [Entry]]

    init(_ phrases: [(phrase: String, meaning: Meaning)]) {
        var byFirstWord: [String: [Entry]] = [:]
        byFirstWord.reserveCapacity(phrases.count)
        for (phrase, meaning) in phrases {
            // Most phrases are one word.
            let isWord = !phrase.utf8.contains(UInt8(ascii: " "))
            let words = isWord ? [phrase] : phrase.split(ascii: " ").map(String.init)
            byFirstWord[words[0], default: []].append(Entry(phrase: words, meaning: meaning))
        }
        self.byFirstWord = byFirstWord
    }

    func entries(beginningWith word: String) -> [Entry]? { byFirstWord[word] }
}

extension PhraseBook where Meaning == Void {
    init(_ phrases: [String]) { self.init(phrases.map { ($0, ()) }) }
}

extension String {
    /// Text with `'` in place of typographic apostrophes.
    var withPlainApostrophes: String {
        guard unicodeScalars.contains("’") else { return self }
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar == "’" ? "'" : scalar) }
        return String(scalars)
    }
}

extension Substring {
    /// Index of an ASCII text. Foundation's `range(of:)` takes forty times as long.
    func firstIndex(ofASCII text: String) -> Index? { utf8.indices.first { utf8[$0...].starts(with: text.utf8) } }
}

extension StringProtocol {
    /// Text without punctuation and white space at its ends.
    func trimmingPunctuation() -> String {
        if let trimmed = utf8.withContiguousStorageIfAvailable(Self.trimmedASCII) ?? nil { return trimmed }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !Self.isEdge($0) }),
            let last = scalars.lastIndex(where: { !Self.isEdge($0) })
        else { return "" }
        return String(self[first..<scalars.index(after: last)])
    }

    /// Whether a scalar is punctuation or white space. A comparison of characters takes fifteen times as long.
    private static func isEdge(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", ",", ";", ":", "?", "!", "।", "\"", "'", "(", ")", "[", "]", "-": true
        default: scalar.properties.isWhitespace
        }
    }

    /// Trims an ASCII text by bytes; nil if the text has other bytes.
    private static func trimmedASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let isEdge = { (byte: UInt8) in
            switch byte {
            case 0x09...0x0D, UInt8(ascii: " "), UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"),
                UInt8(ascii: ":"), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: "\""), UInt8(ascii: "'"),
                UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard let first = bytes.firstIndex(where: { !isEdge($0) }), let last = bytes.lastIndex(where: { !isEdge($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}
