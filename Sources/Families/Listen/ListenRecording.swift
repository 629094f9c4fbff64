import Engines
import Foundation
import ScribeDomain
import ScribeHTTP
import ScribeRuntime

/// What the answer to a whole recording says (streaming.md 1.8).
struct ListenRecording: Encodable {
    private struct Metadata: Encodable {
        let transactionKey = "deprecated"
        let request: String
        let sha256: String
        let created: String
        let duration: Double
        let channels = 1
        let models: [String]
        let info: [String: ListenModel]

        enum CodingKeys: String, CodingKey {
            case sha256, created, duration, channels, models
            case transactionKey = "transaction_key"
            case request = "request_id"
            case info = "model_info"
        }
    }

    private struct Results: Encodable {
        let channels: [Channel]
        let utterances: [Utterance]?
    }

    private struct Channel: Encodable {
        let alternatives: [Alternative]
    }

    private struct Alternative: Encodable {
        let transcript: String
        let confidence: Double
        let words: [ListenWord]
        let paragraphs: Paragraphs?
    }

    private struct Paragraphs: Encodable {
        let transcript: String
        let paragraphs: [Paragraph]
    }

    private struct Paragraph: Encodable {
        let sentences: [Sentence]
        let speaker: Int?
        let count: Int
        let start: Double
        let end: Double

        enum CodingKeys: String, CodingKey {
            case sentences, speaker, start, end
            case count = "num_words"
        }
    }

    private struct Sentence: Encodable {
        let text: String
        let start: Double
        let end: Double
    }

    private struct Utterance: Encodable {
        let start: Double
        let end: Double
        let confidence: Double
        let channel = 0
        let transcript: String
        let words: [ListenWord]
        let speaker: Int?
        let id: String
    }

    private let metadata: Metadata
    private let results: Results

    /// - Parameters:
    ///   - request: its id.
    ///   - id: makes one for an utterance.
    init(
        _ hearing: Recognitions.Hearing, _ query: ListenQuery, request: String, speaksSubQ: Bool, at now: Date,
        id: () -> String
    ) {
        let model = ListenModel(query.model, speaksSubQ: speaksSubQ)
        metadata = Metadata(
            request: request, sha256: Hex.encode(hearing.sha256), created: now.apiTime,
            duration: (hearing.duration * 1000).rounded() / 1000, models: [model.uuid], info: [model.uuid: model])
        let punctuates = query.options.punctuates || speaksSubQ
        let words = SpokenWord.words(in: hearing, tellsSpeakers: query.options.tellsSpeakers)
        let confidence = SpokenWord.confidence(of: hearing.speech)
        func text(_ words: some Sequence<SpokenWord>) -> String {
            words.map { punctuates ? $0.written : $0.bare }.joined(separator: " ")
        }
        func told(_ words: [SpokenWord]) -> [ListenWord] { words.map { $0.told(confidence, punctuates: punctuates) } }
        let turns = words.turns(pause: query.utterancePause)
        let paragraphs = Paragraphs(
            transcript: turns.map(text).joined(separator: "\n\n"),
            paragraphs: turns.map { turn in
                Paragraph(
                    sentences: turn.sentences.map { .init(text: text($0), start: $0.start, end: $0.end) },
                    speaker: turn.first?.speaker, count: turn.count, start: turn.start, end: turn.end)
            })
        results = Results(
            channels: [
                .init(
                    alternatives: [
                        .init(
                            transcript: text(words), confidence: words.isEmpty ? 0 : confidence, words: told(words),
                            paragraphs: query.tellsParagraphs ? paragraphs : nil)
                    ])
            ],
            utterances: query.tellsUtterances
                ? turns.map { turn in
                    Utterance(
                        start: turn.start, end: turn.end, confidence: confidence, transcript: text(turn),
                        words: told(turn), speaker: turn.first?.speaker, id: id())
                } : nil)
    }
}

/// A word of a recording, in seconds from its start.
private struct SpokenWord {
    /// As it stands in a sentence.
    let written: String
    let start: Double
    let end: Double
    let speaker: Int?

    /// In lower case and without punctuation around it.
    var bare: String {
        let bare = written.lowercased().trimmingCharacters(in: .punctuationCharacters)
        return bare.isEmpty ? written : bare
    }

    func told(_ confidence: Double, punctuates: Bool) -> ListenWord {
        ListenWord(
            word: LiveWord(
                text: bare, punctuated: punctuates ? written : nil, start: start, end: end, confidence: confidence,
                speaker: speaker))
    }

    /// What was heard, word by word. Where the recogniser knows no times, they follow each other evenly; where it tells
    /// nobody apart, one speaker says everything.
    static func words(in hearing: Recognitions.Hearing, tellsSpeakers: Bool) -> [SpokenWord] {
        let speech = hearing.speech
        func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
        guard speech.words.isEmpty else {
            return speech.words.map {
                SpokenWord(
                    written: $0.text, start: rounded($0.start), end: rounded($0.end),
                    speaker: tellsSpeakers ? $0.speaker ?? 0 : nil)
            }
        }
        let words = speech.text.split(whereSeparator: \.isWhitespace)
        let length = hearing.duration / Double(max(words.count, 1))
        return words.enumerated().map { place, word in
            SpokenWord(
                written: String(word), start: rounded(Double(place) * length), end: rounded(Double(place + 1) * length),
                speaker: tellsSpeakers ? 0 : nil)
        }
    }

    /// The same for every word: recognisers of whole recordings tell no more than that they had doubts.
    static func confidence(of speech: RecognisedSpeech) -> Double {
        speech.warnings.contains { $0.code == .lowConfidence } ? 0.4 : 0.95
    }
}

extension [SpokenWord] {
    fileprivate var start: Double { first?.start ?? 0 }
    fileprivate var end: Double { last?.end ?? 0 }

    /// What one says without a pause.
    fileprivate func turns(pause: Double) -> [[SpokenWord]] {
        parts { $0.speaker != $1.speaker || $1.start - $0.end >= pause }
    }

    fileprivate var sentences: [[SpokenWord]] {
        parts { before, _ in before.written.last.map { ".?!।".contains($0) } ?? false }
    }

    private func parts(cutBetween isCut: (SpokenWord, SpokenWord) -> Bool) -> [[SpokenWord]] {
        var parts: [[SpokenWord]] = []
        for word in self {
            if let last = parts.last?.last, !isCut(last, word) {
                parts[parts.count - 1].append(word)
            } else {
                parts.append([word])
            }
        }
        return parts
    }
}
