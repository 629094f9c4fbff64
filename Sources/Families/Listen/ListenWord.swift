import Engines

/// A word as both the socket and the answer to a recording tell it (streaming.md 1.5).
struct ListenWord: Encodable {
    private let word: LiveWord
    private let punctuates: Bool

    /// - Parameter punctuates: whether it is told as it stands in a sentence.
    init(_ word: LiveWord, punctuates: Bool) {
        self.word = word
        self.punctuates = punctuates
    }

    enum CodingKeys: String, CodingKey {
        case word, start, end, confidence, speaker
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
    }
}
