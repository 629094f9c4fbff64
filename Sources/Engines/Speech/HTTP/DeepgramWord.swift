/// A word in Deepgram's answers, live and pre-recorded (streaming.md 1.5, 1.8). A wrong type of a member that is
/// `Tolerant` does not cost the word.
struct DeepgramWord: Decodable {
    let word: String
    /// In seconds, as `end`.
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
