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
        let language: String?
        let confidence: Double?
        let alternatives: [Alternative]

        enum CodingKeys: String, CodingKey {
            case alternatives
            case language = "detected_language"
            case confidence = "language_confidence"
        }
    }

    private struct Alternative: Encodable {
        let transcript: String
        let confidence: Double
        let words: [ListenWord]
        let paragraphs: Paragraphs?
        let languages: [String]?
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
        func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
        metadata = Metadata(
            request: request, sha256: Hex.encode(hearing.sha256), created: now.apiTime,
            duration: rounded(hearing.duration), models: [model.uuid], info: [model.uuid: model])
        let punctuates = query.options.punctuates || speaksSubQ
        let confidence = hearing.speech.sureness
        let language = hearing.speech.language
        let words = hearing.words.map {
            TimedWord(
                text: $0.text, start: rounded($0.start), end: rounded($0.end),
                speaker: query.options.tellsSpeakers ? $0.speaker ?? 0 : nil, language: $0.language ?? language)
        }
        func text(_ words: [TimedWord]) -> String {
            words.map { punctuates ? $0.text : $0.bare }.joined(separator: " ")
        }
        func live(_ words: [TimedWord]) -> [LiveWord] {
            words.map {
                LiveWord($0, confidence: confidence, punctuates: punctuates, language: $0.language)
            }
        }
        func told(_ words: [TimedWord]) -> [ListenWord] {
            live(words).map { ListenWord($0, punctuates: punctuates, tellsLanguage: query.tellsLanguages) }
        }
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
                    language: query.detectsLanguage ? language : nil,
                    // Recognisers that name a language are sure of it.
                    confidence: query.detectsLanguage ? language.map { _ in rounded(confidence) } : nil,
                    alternatives: [
                        .init(
                            transcript: text(words), confidence: words.isEmpty ? 0 : confidence, words: told(words),
                            paragraphs: query.tellsParagraphs ? paragraphs : nil,
                            languages: query.tellsLanguages ? live(words).languages : nil)
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

extension [TimedWord] {
    fileprivate var start: Double { first?.start ?? 0 }
    fileprivate var end: Double { last?.end ?? 0 }

    /// What one says without a pause.
    fileprivate func turns(pause: Double) -> [[TimedWord]] {
        parts { $0.speaker != $1.speaker || $1.start - $0.end >= pause }
    }

    fileprivate var sentences: [[TimedWord]] {
        parts { before, _ in before.text.endsSentence }
    }

    private func parts(cutBetween isCut: (TimedWord, TimedWord) -> Bool) -> [[TimedWord]] {
        var parts: [[TimedWord]] = []
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
