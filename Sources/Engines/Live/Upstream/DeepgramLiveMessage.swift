import Basics
import Foundation

/// Message of Deepgram's live API (streaming.md 1.5), limited to the used members. A missing member, or one of the
/// wrong type, does not invalidate the message.
struct DeepgramLiveMessage: Decodable {
    struct Alternative: Decodable {
        let confidence: Tolerant<Double>?
        let words: Tolerant<[DeepgramWord]>?
    }

    private struct Channel: Decodable {
        let alternatives: [Alternative]
    }

    enum Kind: String, Decodable {
        case results = "Results"
        case speechStarted = "SpeechStarted"
        case utteranceEnd = "UtteranceEnd"
        case metadata = "Metadata"
    }

    let kind: Kind
    let channel: Int
    let start: Double
    let duration: Double
    let isFinal: Bool
    let speechFinal: Bool
    let fromFinalize: Bool
    let alternative: Alternative?
    /// Start of speech, or end of the last word, in seconds.
    let time: Double

    private enum CodingKeys: String, CodingKey {
        case kind = "type"
        case place = "channel_index"
        case start, duration, channel, timestamp
        case isFinal = "is_final"
        case speechFinal = "speech_final"
        case fromFinalize = "from_finalize"
        case lastWordEnd = "last_word_end"
    }

    /// Decodes a message.
    /// - Throws: for messages of other kinds.
    init(from decoder: any Decoder) throws {
        let body = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys) -> Value? { try? body.decodeIfPresent(Value.self, forKey: key) }
        /// Time in seconds; nil beyond a year, so that it can be counted in samples.
        func seconds(_ key: CodingKeys) -> Double? {
            let seconds: Double? = value(key)
            return seconds.flatMap { abs($0) < 3e7 ? $0 : nil }
        }
        kind = try body.decode(Kind.self, forKey: .kind)
        let place: [Int]? = value(kind == .results ? .place : .channel)
        channel = place?.first ?? 0
        start = max(0, seconds(.start) ?? 0)
        duration = max(0, seconds(.duration) ?? 0)
        isFinal = value(.isFinal) ?? false
        speechFinal = value(.speechFinal) ?? false
        fromFinalize = value(.fromFinalize) ?? false
        let heard: Channel? = kind == .results ? value(.channel) : nil
        alternative = heard?.alternatives.first
        time = seconds(kind == .speechStarted ? .timestamp : .lastWordEnd) ?? 0
    }

    /// Decodes a message's JSON; nil for other text and other kinds of messages.
    init?(_ text: [UInt8]) {
        guard !JSONDocument.isTooLarge(text),
            let message = try? JSONDocument(text).decode(Self.self)
        else { return nil }
        self = message
    }
}
