import Basics
import Engines
import Foundation
import ScribeDomain
import ScribeRuntime

extension Recognitions.RecognisedRecording {
    /// Encodes the answer to a whole recording (streaming.md 1.8).
    /// - Parameters:
    ///   - request: The request's id.
    ///   - id: Makes an id for each utterance.
    func json(_ query: ListenQuery, request: String, speaksSubQ: Bool, at now: Date, id: () -> String) -> JSON {
        let channels = channels.enumerated().map {
            RecordedChannel($1, number: $0, query, punctuate: query.options.punctuate || speaksSubQ)
        }
        let utterances = channels.flatMap { channel in channel.turns.map { (channel, $0) } }
            .sorted { ($0.1.start, $0.0.number) < ($1.1.start, $1.0.number) }
        return [
            "metadata": ListenModel(query.model, speaksSubQ: speaksSubQ).metadata(
                request: request, hash: sha256, createdAt: now, duration: duration.inThousandths,
                channels: channels.count, extra: query.extra
            ).adding(query.warnings.isEmpty ? [:] : ["warnings": .array(query.warnings, \.json)]),
            "results": [
                "channels": .array(channels, \.json),
                "utterances": query.utterances
                    ? .array(utterances) { channel, turn in channel.utterance(turn, id: id()) } : nil,
            ],
        ]
    }
}

/// One channel of the answer to a recording.
private struct RecordedChannel {
    let number: Int
    let turns: [[TimedWord]]
    private let query: ListenQuery
    private let punctuate: Bool
    private let language: String?
    private let confidence: Double
    private let words: [TimedWord]

    init(_ channel: Recognitions.RecognisedChannel, number: Int, _ query: ListenQuery, punctuate: Bool) {
        self.number = number
        self.query = query
        self.punctuate = punctuate
        let language = channel.speech.language
        self.language = language
        confidence = channel.speech.wordConfidence
        words = channel.words.map {
            TimedWord(
                text: $0.text, start: $0.start.inThousandths, end: $0.end.inThousandths,
                speaker: query.options.diarize ? $0.speaker ?? 0 : nil, language: $0.language ?? language)
        }
        turns = words.turns(pause: query.utterancePause)
    }

    private func text(_ words: [TimedWord]) -> String {
        words.map { punctuate ? $0.text : $0.bare }.joined(separator: " ")
    }

    private func live(_ words: [TimedWord]) -> [LiveWord] {
        words.map { LiveWord($0, confidence: confidence, punctuate: punctuate, language: $0.language) }
    }

    private func told(_ words: [LiveWord]) -> JSON {
        .array(words) { $0.json(punctuate: punctuate, tellsLanguage: query.wordLanguages) }
    }

    var json: JSON {
        let spoken = live(words)
        let alternative: JSON = [
            "transcript": .string(text(words)), "confidence": .number(words.isEmpty ? 0 : confidence),
            "words": told(spoken), "paragraphs": query.paragraphs ? paragraphs : nil,
            "languages": query.wordLanguages ? .array(spoken.languages, JSON.string) : nil,
            "languages_hinted": query.hintedLanguages.map { .array($0, JSON.string) },
        ]
        let detected = query.detectLanguage ? language : nil
        return [
            "detected_language": detected.map(JSON.string),
            // Recognisers that name a language are sure of it, so the transcript's confidence is used.
            "language_confidence": detected.map { _ in .number(confidence.inThousandths) },
            "alternatives": [alternative],
        ]
    }

    private var paragraphs: JSON {
        [
            "transcript": .string(turns.map(text).joined(separator: "\n\n")),
            "paragraphs": .array(turns) { turn in
                [
                    "sentences": .array(turn.sentences) {
                        ["text": .string(text($0)), "start": .number($0.start), "end": .number($0.end)]
                    },
                    "speaker": turn.first?.speaker.map(JSON.integer), "num_words": .integer(turn.count),
                    "start": .number(turn.start), "end": .number(turn.end),
                ]
            },
        ]
    }

    func utterance(_ turn: [TimedWord], id: String) -> JSON {
        [
            "start": .number(turn.start), "end": .number(turn.end), "confidence": .number(confidence),
            "channel": .integer(number), "transcript": .string(text(turn)), "words": told(live(turn)),
            "speaker": turn.first?.speaker.map(JSON.integer), "id": .string(id),
        ]
    }
}

extension [TimedWord] {
    fileprivate var start: Double { first?.start ?? 0 }
    fileprivate var end: Double { last?.end ?? 0 }

    /// Splits words at changes of speaker and at pauses of at least `pause` seconds.
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
