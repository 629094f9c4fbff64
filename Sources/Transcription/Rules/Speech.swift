/// A stretch of speech as words, with what is needed to compare them and to quote them.
struct Speech {
    struct Word: Hashable {
        /// As it was said, punctuation included.
        let spoken: Substring
        /// Lower case, without punctuation at its ends.
        let plain: String
    }

    var words: [Word]

    init(words: some Sequence<Word>) { self.words = Array(words) }

    init(_ text: some StringProtocol) {
        words = text.split(whereSeparator: \.isWhitespace).map { part in
            let word = Substring(part)
            return Word(spoken: word, plain: word.lowercased().trimmingPunctuation())
        }
    }

    /// The words as they were said, without the punctuation that ends them.
    var quotation: String {
        words.map(\.spoken).joined(separator: " ").trimmingPunctuation()
    }

    /// Where `phrase` begins, at or after `start`.
    func position(of phrase: [String], from start: Int = 0) -> Int? {
        guard !phrase.isEmpty, words.count >= phrase.count, start <= words.count - phrase.count else { return nil }
        return (start...words.count - phrase.count).first { matches(phrase, at: $0) }
    }

    func matches(_ phrase: [String], at position: Int) -> Bool {
        position >= 0 && position + phrase.count <= words.count
            && zip(words[position...], phrase).allSatisfy { $0.plain == $1 }
    }

    subscript(range: Range<Int>) -> Speech { Speech(words: words[range]) }

    /// The sentences of a transcript. A number's decimal point ends none, and a speaker's label is no part of any.
    static func sentences(of transcript: String) -> [Speech] {
        var sentences: [Speech] = []
        for line in transcript.split(whereSeparator: \.isNewline) {
            var current: [Word] = []
            for word in Speech(withoutSpeaker(line)).words {
                current.append(word)
                if let last = word.spoken.last, ".?!।;".contains(last) {
                    sentences.append(Speech(words: current))
                    current = []
                }
            }
            if !current.isEmpty { sentences.append(Speech(words: current)) }
        }
        return sentences
    }

    private static func withoutSpeaker(_ line: Substring) -> Substring {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].count <= 20 else { return line }
        let label = line[..<colon].lowercased()
        let isSpeaker = ["doctor", "patient", "speaker", "clinician", "dr"].contains { label.hasPrefix($0) }
        return isSpeaker ? line[line.index(after: colon)...] : line
    }
}

extension StringProtocol {
    /// Without punctuation and white space at both ends.
    func trimmingPunctuation() -> String {
        let isEdge = { (character: Character) in character.isWhitespace || ".,;:?!।\"'()-".contains(character) }
        let start = firstIndex { !isEdge($0) } ?? endIndex
        let end = lastIndex { !isEdge($0) }.map { index(after: $0) } ?? start
        return start < end ? String(self[start..<end]) : ""
    }
}
