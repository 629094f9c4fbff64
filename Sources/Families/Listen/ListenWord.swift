import Engines
import ScribeDomain

extension LiveWord {
    /// A word as both the socket and the answer to a recording tell it (streaming.md 1.5).
    /// - Parameters:
    ///   - punctuates: whether the word is also told as it stands in a sentence.
    ///   - tellsLanguage: whether the word's language is told, where it is known.
    func json(punctuates: Bool, tellsLanguage: Bool) -> JSON {
        [
            "word": .string(text), "start": .number(start), "end": .number(end), "confidence": .number(confidence),
            "punctuated_word": punctuates ? punctuated.map(JSON.string) : nil, "speaker": speaker.map(JSON.integer),
            "language": tellsLanguage ? language.map(JSON.string) : nil,
        ]
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
