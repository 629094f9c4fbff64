import Foundation
import ScribeDomain

/// Speech as words, in a form for comparison and a form for quotation.
struct Speech {
    struct Word: Hashable {
        /// Word as spoken, with punctuation.
        let spoken: Substring
        /// Word in lower case, without punctuation at its ends.
        let plain: String

        /// Whether a pause follows the word.
        var endsClause: Bool { spoken.last.map { ",;:".contains($0) } ?? false }

        var beginsLower: Bool {
            spoken.utf8.first.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) } ?? false
        }
    }

    var words: [Word]
    /// Whether the transcript labels the speaker as the doctor.
    var isDoctor = false

    init(words: some Sequence<Word>, isDoctor: Bool = false) {
        self.words = Array(words)
        self.isDoctor = isDoctor
    }

    init(_ text: Substring) {
        words = text.words.map { Word(spoken: $0, plain: Self.plain($0)) }
    }

    init(_ text: String) { self.init(text[...]) }

    private static func plain(_ word: Substring) -> String {
        // Fast path: most words are plain, and character comparison is slow.
        if word.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) { return String(word) }
        return word.lowercased().trimmingPunctuation().withPlainApostrophes
    }

    /// Words as spoken, without punctuation at the ends.
    var quotation: String {
        words.map(\.spoken).joined(separator: " ").trimmingPunctuation()
    }

    /// Range of the words in the transcript; nil without words.
    var source: Range<String.Index>? {
        guard let first = words.first, let last = words.last else { return nil }
        return first.spoken.startIndex..<last.spoken.endIndex
    }

    /// Fact with these words as its text.
    func fact(_ kind: ClinicalFact.Kind, details: [String: String] = [:]) -> ClinicalFact {
        ClinicalFact(kind, quotation, details: details, source: source)
    }

    /// Whether the words contain `phrase`.
    func contains(_ phrase: [String]) -> Bool {
        words.indices.contains { matches(phrase, at: $0) }
    }

    func matches(_ phrase: [String], at position: Int) -> Bool {
        position >= 0 && position + phrase.count <= words.count
            && zip(words[position...], phrase).allSatisfy { $0.plain == $1 }
    }

    /// Longest phrase of a book that begins at `position`, with its meaning.
    func longest<Meaning>(of phrases: PhraseBook<Meaning>, at position: Int) -> PhraseBook<Meaning>.Entry? {
        phrases.entries(beginningWith: words[position].plain)?.filter { matches($0.phrase, at: position) }
            .max { $0.phrase.count < $1.phrase.count }
    }

    subscript(range: Range<Int>) -> Speech { Speech(words: words[range], isDoctor: isDoctor) }

    /// Splits a transcript into sentences, without speaker labels. A decimal point ends no sentence.
    static func sentences(of transcript: String) -> [Speech] {
        EventLoopOffload.watch(bytes: transcript.utf8.count, of: "sentences")
        let ends: [Unicode.Scalar] = [".", "?", "!", "।", ";"]
        var sentences: [Speech] = []
        for line in transcript.lines {
            let (text, isDoctor) = withoutSpeaker(line)
            var current: [Word] = []
            let words = Speech(text).words
            for (index, word) in words.enumerated() {
                current.append(word)
                // "Can't... finish... a sentence" is one sentence.
                let goesOn = word.spoken.hasSuffix("..") && index + 1 < words.count && words[index + 1].beginsLower
                if !goesOn, let last = word.spoken.unicodeScalars.last, ends.contains(last) {
                    sentences.append(Speech(words: current, isDoctor: isDoctor))
                    current = []
                }
            }
            if !current.isEmpty { sentences.append(Speech(words: current, isDoctor: isDoctor)) }
        }
        return sentences
    }

    /// Removes a time or speaker label: `[00:12]`, `Doctor:`, `PATIENT -` and the like.
    private static func withoutSpeaker(_ line: Substring) -> (text: Substring, isDoctor: Bool) {
        // Fast path: few lines have a label, and character comparison is slow.
        let marks = [UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "-")]
        guard line.utf8.prefix(200).contains(where: marks.contains) else { return (line, false) }
        var line = line
        if line.hasPrefix("["), let end = line.firstIndex(of: "]") { line = line[line.index(after: end)...] }
        let start = line.prefix(24)
        guard let mark = start.firstIndex(of: ":") ?? start.range(of: " - ")?.lowerBound else { return (line, false) }
        let label = line[..<mark].lowercased().trimmingPunctuation()
        let doctors = ["doctor", "dr", "d", "clinician", "physician", "gp"]
        let others = ["patient", "pt", "p", "speaker", "guest"]
        let first = label.split(ascii: " ").first.map(String.init) ?? ""
        guard (doctors + others).contains(first) else { return (line, false) }
        let rest = line[mark...].drop { $0 == ":" || $0 == "-" || $0 == " " }
        return (rest, doctors.contains(first))
    }
}

/// Phrases by their first word, for fast lookup at each word of a transcript.
struct PhraseBook<Meaning: Sendable>: Sendable {
    struct Entry: Sendable {
        let phrase: [String]
        let meaning: Meaning
    }

    private let byFirstWord: [String: [Entry]]

    init(_ phrases: [(phrase: String, meaning: Meaning)]) {
        let entries = phrases.map { pair in
            Entry(phrase: pair.phrase.split(ascii: " ").map(String.init), meaning: pair.meaning)
        }
        byFirstWord = Dictionary(grouping: entries) { $0.phrase[0] }
    }

    /// Meanings of all phrases, with repetitions.
    var meanings: [Meaning] { byFirstWord.values.flatMap { $0.map(\.meaning) } }

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
