import Basics

/// Word of a transcript, in a form for comparison and a form for notes.
struct Token: Hashable, Sendable {
    /// Pause or punctuation after a word.
    enum Pause: Int, Comparable, Sendable {
        case none, comma, end, question

        static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    /// Word in lower case, without punctuation at its ends.
    var plain: String
    /// Word as notes write it.
    var shown: String
    /// Range of the word in the transcript.
    var source: Range<String.Index>
    var pause = Pause.none
    /// Whether the speaker hesitates after the word.
    var hesitates = false
    /// Index of the word in its line, from 0; adjacent indices were spoken in a row.
    var ordinal = 0
    /// Whether the word differs from the spoken one.
    var isChanged = false

    init(_ plain: String, shown: String? = nil, source: Range<String.Index>, pause: Pause = .none) {
        self.plain = plain
        self.shown = shown ?? plain
        self.source = source
        self.pause = pause
    }

    /// Copy with another word in the same place.
    func replaced(by word: String) -> Token {
        var token = self
        token.plain = word
        token.shown = word
        token.isChanged = true
        return token
    }

    /// The word without a beginning that is said twice: "i-i" and "th-the".
    var withoutStutter: Token {
        guard let dash = plain.utf8.firstIndex(of: UInt8(ascii: "-")) else { return self }
        let (beginning, rest) = (plain[..<dash], plain[plain.index(after: dash)...])
        // "Co-codamol" is a medicine.
        guard (1...3).contains(beginning.utf8.count), beginning != "co", beginning.utf8.allSatisfy(\.isLetter),
            rest.hasPrefix(beginning)
        else { return self }
        return replaced(by: String(rest))
    }

    /// Splits a text into its words; `shown` is the word as spoken, with punctuation.
    static func words(in text: Substring) -> [Token] {
        text.words.map { Token(plain($0), shown: String($0), source: $0.startIndex..<$0.endIndex) }
    }

    /// Splits a line into words of notes. Separate punctuation joins the word before it, and `do n't` is one word.
    static func tokens(of text: Substring) -> [Token] {
        var tokens: [Token] = []
        for spoken in text.words {
            let pause = pause(after: spoken)
            var plain = ending(spoken) ?? Self.plain(spoken)
            let source = spoken.startIndex..<Self.end(of: spoken)
            if plain.isEmpty {
                if let last = tokens.indices.last { tokens[last].pause = max(tokens[last].pause, pause) }
                continue
            }
            if let last = tokens.indices.last, tokens[last].pause == .none,
                let whole = joined(tokens[last].plain, plain)
            {
                tokens[last].plain = whole
                tokens[last].shown = whole
                tokens[last].source = tokens[last].source.lowerBound..<spoken.endIndex
                tokens[last].pause = pause
                continue
            }
            let isFirst = tokens.last.map { $0.pause >= .end } ?? true
            var shown = spoken.trimmingPunctuation()
            if plain == "dr" || plain == "mr" || plain == "mrs" {
                tokens.append(Token(plain, shown: shown, source: source))
                continue
            }
            if isFirst, shown.dropFirst().utf8.allSatisfy({ $0 > 0x60 }) { shown = plain }
            if let whole = written[plain] { (plain, shown) = (whole, whole) }
            tokens.append(Token(plain, shown: shown, source: source, pause: pause))
        }
        for index in tokens.indices { tokens[index].ordinal = index }
        return tokens
    }

    /// Joins words that some recognisers split: `gon na`, `do n't`, `doctor 's`.
    private static func joined(_ first: String, _ second: String) -> String? {
        switch second {
        case "n't", "'s", "'m", "'re", "'ve", "'ll", "'d": first + second
        case "nt" where first == "do" || first == "did": first + "n't"
        case "na" where first == "gon": "gonna"
        case "na" where first == "wan": "wanna"
        case "ta" where first == "got": "gotta"
        case "s" where first == "it" || first == "that" || first == "there": first + "'s"
        default: nil
        }
    }

    private static let written = Lexicon.dictionary("words/written")

    private static func plain(_ word: Substring) -> String {
        // Fast path: most words are plain, and character comparison is slow.
        if word.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) { return String(word) }
        return word.lowercased().trimmingPunctuation().withPlainApostrophes
    }

    /// Split ending of a word such as "'s", whose apostrophe identifies it; nil for other words.
    private static func ending(_ word: Substring) -> String? {
        guard let first = word.unicodeScalars.first, first == "'" || first == "’" else { return nil }
        let rest = word.dropFirst().lowercased().trimmingPunctuation()
        return ["s", "m", "re", "ve", "ll", "d"].contains(rest) ? "'" + rest : nil
    }

    /// End of the word, without the punctuation after it.
    private static func end(of word: Substring) -> String.Index {
        let rest = word.utf8.reversed().drop { byte in
            [
                UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: "?"), UInt8(ascii: "!"), UInt8(ascii: ";"),
                UInt8(ascii: ":"),
            ]
            .contains(byte)
        }
        return rest.startIndex.base
    }

    private static func pause(after word: Substring) -> Pause {
        for scalar in word.unicodeScalars.reversed() {
            switch scalar {
            case "?": return .question
            case ".", "!", "।", ";", "…": return .end
            case ",", ":", "–", "—": return .comma
            case "\"", "'", ")", "]", "”", "’": continue
            default: return .none
            }
        }
        return .none
    }
}

extension [Token] {
    /// Whether `phrase` begins at `position`.
    func matches(_ phrase: [String], at position: Int) -> Bool {
        guard position >= startIndex, position + phrase.count <= endIndex else { return false }
        for (offset, word) in phrase.enumerated() where self[position + offset].plain != word { return false }
        return true
    }

    /// End of the longest phrase of a book that begins at `position`; nil without one.
    func end(of phrases: PhraseBook<Void>, at position: Int) -> Int? {
        guard position < endIndex, let entries = phrases.entries(beginningWith: self[position].plain) else {
            return nil
        }
        return entries.lazy.filter { matches($0.phrase, at: position) }.map { position + $0.phrase.count }.max()
    }

    /// Longest phrase of a book that begins at `position`, with its meaning; nil without one.
    func longest<Meaning>(of phrases: PhraseBook<Meaning>, at position: Int) -> PhraseBook<Meaning>.Entry? {
        phrases.entries(beginningWith: self[position].plain)?.lazy.filter { matches($0.phrase, at: position) }
            .max { $0.phrase.count < $1.phrase.count }
    }

    func contains(anyOf phrases: PhraseBook<Void>) -> Bool {
        indices.contains { end(of: phrases, at: $0) != nil }
    }

    func contains(_ words: Set<String>) -> Bool { contains { words.contains($0.plain) } }

    /// Range of the words in the transcript, even if reordered; nil without words.
    var source: Range<String.Index>? {
        guard let start = self.map(\.source.lowerBound).min(), let end = self.map(\.source.upperBound).max() else {
            return nil
        }
        return start..<end
    }

    /// Words joined as notes write them.
    var text: String {
        var text = ""
        for (index, token) in enumerated() {
            text += token.shown
            if index < count - 1 { text += token.pause == .comma ? ", " : " " }
        }
        return text
    }
}
