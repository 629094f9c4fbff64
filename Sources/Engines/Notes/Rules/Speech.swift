import Foundation
import ScribeDomain

/// A stretch of speech as words, with what is needed to compare them and to quote them.
struct Speech {
    struct Word: Hashable {
        /// As it was said, punctuation included.
        let spoken: Substring
        /// Lower case, without punctuation at its ends.
        let plain: String

        /// Whether a pause follows.
        var endsClause: Bool { spoken.last.map { ",;:".contains($0) } ?? false }
    }

    var words: [Word]
    /// Whether the transcript says that the doctor spoke.
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
        // Most words are, and characters take long to tell apart.
        if word.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) { return String(word) }
        return word.lowercased().trimmingPunctuation().withPlainApostrophes
    }

    /// The words as they were said, without the punctuation that ends them.
    var quotation: String {
        words.map(\.spoken).joined(separator: " ").trimmingPunctuation()
    }

    /// Where the words stand in the transcript; nil where there are none.
    var source: Range<String.Index>? {
        guard let first = words.first, let last = words.last else { return nil }
        return first.spoken.startIndex..<last.spoken.endIndex
    }

    /// The words as a fact.
    func fact(_ kind: ClinicalFact.Kind, details: [String: String] = [:]) -> ClinicalFact {
        ClinicalFact(kind, quotation, details: details, source: source)
    }

    /// Whether `phrase` is in it.
    func contains(_ phrase: [String]) -> Bool {
        words.indices.contains { matches(phrase, at: $0) }
    }

    func matches(_ phrase: [String], at position: Int) -> Bool {
        position >= 0 && position + phrase.count <= words.count
            && zip(words[position...], phrase).allSatisfy { $0.plain == $1 }
    }

    /// The longest of `phrases` that begins at `position`, with what it stands for.
    func longest<Meaning>(of phrases: PhraseBook<Meaning>, at position: Int) -> PhraseBook<Meaning>.Entry? {
        phrases.entries(beginningWith: words[position].plain)?.filter { matches($0.phrase, at: position) }
            .max { $0.phrase.count < $1.phrase.count }
    }

    subscript(range: Range<Int>) -> Speech { Speech(words: words[range], isDoctor: isDoctor) }

    /// The sentences of a transcript. A number's decimal point ends none, and a speaker's label is no part of any.
    static func sentences(of transcript: String) -> [Speech] {
        LongWork.watch(bytes: transcript.utf8.count, of: "sentences")
        let ends: [Unicode.Scalar] = [".", "?", "!", "।", ";"]
        var sentences: [Speech] = []
        for line in transcript.lines {
            let (text, isDoctor) = withoutSpeaker(line)
            var current: [Word] = []
            for word in Speech(text).words {
                current.append(word)
                if let last = word.spoken.unicodeScalars.last, ends.contains(last) {
                    sentences.append(Speech(words: current, isDoctor: isDoctor))
                    current = []
                }
            }
            if !current.isEmpty { sentences.append(Speech(words: current, isDoctor: isDoctor)) }
        }
        return sentences
    }

    /// Takes off `[00:12]`, `Doctor:`, `PATIENT -` and the like.
    private static func withoutSpeaker(_ line: Substring) -> (text: Substring, isDoctor: Bool) {
        // Few lines have one, and characters take long to tell apart.
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

/// Phrases by their first word: at each word of a transcript only few of them can begin.
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

    /// What its phrases stand for, each as often as there are phrases.
    var meanings: [Meaning] { byFirstWord.values.flatMap { $0.map(\.meaning) } }

    func entries(beginningWith word: String) -> [Entry]? { byFirstWord[word] }
}

extension PhraseBook where Meaning == Void {
    init(_ phrases: [String]) { self.init(phrases.map { ($0, ()) }) }
}

extension String {
    /// With `'` for each typographic apostrophe.
    var withPlainApostrophes: String {
        guard unicodeScalars.contains("’") else { return self }
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar == "’" ? "'" : scalar) }
        return String(scalars)
    }
}

extension StringProtocol {
    /// Without punctuation and white space at both ends.
    func trimmingPunctuation() -> String {
        if let trimmed = utf8.withContiguousStorageIfAvailable(Self.trimmedASCII) ?? nil { return trimmed }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !Self.isEdge($0) }),
            let last = scalars.lastIndex(where: { !Self.isEdge($0) })
        else { return "" }
        return String(self[first..<scalars.index(after: last)])
    }

    /// By scalars: characters take fifteen times as long to tell apart.
    private static func isEdge(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case ".", ",", ";", ":", "?", "!", "।", "\"", "'", "(", ")", "[", "]", "-": true
        default: scalar.properties.isWhitespace
        }
    }

    /// The same by bytes, nil where there is more than ASCII.
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
