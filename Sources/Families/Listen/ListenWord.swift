import Engines

/// A word as both the socket and the answer to a recording tell it (streaming.md 1.5).
struct ListenWord: Encodable {
    private let word: LiveWord
    private let punctuates: Bool
    private let tellsLanguage: Bool

    /// - Parameters:
    ///   - punctuates: whether it is told as it stands in a sentence.
    ///   - tellsLanguage: whether what it is spoken in is told, where it is known.
    init(_ word: LiveWord, punctuates: Bool, tellsLanguage: Bool) {
        self.tellsLanguage = tellsLanguage
        self.word = word
        self.punctuates = punctuates
    }

    enum CodingKeys: String, CodingKey {
        case word, start, end, confidence, speaker, language
        case punctuated = "punctuated_word"
    }

    func encode(to encoder: any Encoder) throws {
        var body = encoder.container(keyedBy: CodingKeys.self)
        try body.encode(word.text, forKey: .word)
        try body.encode(word.start, forKey: .start)
        try body.encode(word.end, forKey: .end)
        try body.encode(word.confidence, forKey: .confidence)
        if punctuates { try body.encodeIfPresent(word.punctuated, forKey: .punctuated) }
        try body.encodeIfPresent(word.speaker, forKey: .speaker)
        if tellsLanguage { try body.encodeIfPresent(word.language, forKey: .language) }
    }
}

extension [LiveWord] {
    /// Their languages, the most frequent first.
    var languages: [String] {
        Dictionary(grouping: compactMap(\.language)) { $0 }.sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        .map(\.key)
    }
}
