/// Word in Deepgram's answers, live and pre-recorded (streaming.md 1.5, 1.8). A wrong type in a
/// `Tolerant` member does not lose the word.
struct DeepgramWord: Decodable {
    let word: String
    /// Start and end in seconds.
    let start: Double
    let end: Double
    let confidence: Tolerant<Double>?
    let punctuated: String?
    let speaker: Tolerant<Int>?
    let language: Tolerant<String>?

    enum CodingKeys: String, CodingKey {
        case word, start, end, confidence, speaker, language
        case punctuated = "punctuated_word"
    }
}
