import Basics
import Engines

extension LiveWord {
    /// Encodes a word, for a socket and for a recording's answer (streaming.md 1.5).
    /// - Parameters:
    ///   - punctuate: Adds the word with case and punctuation.
    ///   - tellsLanguage: Adds the word's language, if known.
    func json(punctuate: Bool, tellsLanguage: Bool) -> JSON {
        [
            "word": .string(text), "start": .number(start), "end": .number(end), "confidence": .number(confidence),
            "punctuated_word": punctuate ? punctuated.map(JSON.string) : nil, "speaker": speaker.map(JSON.integer),
            "language": tellsLanguage ? language.map(JSON.string) : nil,
        ]
    }
}

extension [LiveWord] {
    /// Languages of the words, the most frequent first.
    var languages: [String] {
        Dictionary(grouping: compactMap(\.language)) { $0 }.sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        .map(\.key)
    }
}
