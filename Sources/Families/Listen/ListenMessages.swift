import Crypto
import Engines
import Foundation
import ScribeDomain
import ScribeHTTP

/// What a client says in a text (streaming.md 1.4).
enum ListenCommand: Hashable, Sendable {
    case keepAlive
    case finalize
    case closeStream
    case configure
    /// Something else; what it says of itself is not repeated, for it may be anything.
    case unknown

    private struct Body: Decodable {
        let type: String
    }

    init(_ text: String) {
        switch JSONDocument.untrusted(Data(text.utf8), as: Body.self)?.type {
        case "KeepAlive": self = .keepAlive
        case "Finalize": self = .finalize
        case "CloseStream": self = .closeStream
        case "Configure": self = .configure
        default: self = .unknown
        }
    }
}

/// What a socket says (streaming.md 1.5), for one connection.
struct ListenMessages: Sendable {
    let request: String
    let model: ListenModel
    let channels: Int
    let createdAt: Date
    /// Whether words are told as they stand in a sentence.
    let punctuates: Bool
    let speaksSubQ: Bool

    private struct Results: Encodable {
        struct Channel: Encodable {
            struct Alternative: Encodable {
                let transcript: String
                let confidence: Double
                let words: [ListenWord]
            }

            let alternatives: [Alternative]
        }

        struct Metadata: Encodable {
            let request: String
            let info: ListenModel
            let uuid: String

            enum CodingKeys: String, CodingKey {
                case request = "request_id"
                case info = "model_info"
                case uuid = "model_uuid"
            }
        }

        let type = "Results"
        let place: [Int]
        let duration: Double
        let start: Double
        let isFinal: Bool
        let speechFinal: Bool
        let fromFinalize: Bool
        let channel: Channel
        let metadata: Metadata

        enum CodingKeys: String, CodingKey {
            case type, duration, start, channel, metadata
            case place = "channel_index"
            case isFinal = "is_final"
            case speechFinal = "speech_final"
            case fromFinalize = "from_finalize"
        }
    }

    private struct SpeechStarted: Encodable {
        let type = "SpeechStarted"
        let channel: [Int]
        let timestamp: Double
    }

    private struct UtteranceEnd: Encodable {
        let type = "UtteranceEnd"
        let channel: [Int]
        let lastWordEnd: Double

        enum CodingKeys: String, CodingKey {
            case type, channel
            case lastWordEnd = "last_word_end"
        }
    }

    private struct Metadata: Encodable {
        let type = "Metadata"
        let transactionKey = "deprecated"
        let request: String
        let sha256: String
        let created: String
        let duration: Double
        let channels: Int
        let models: [String]
        let info: [String: ListenModel]

        enum CodingKeys: String, CodingKey {
            case type, sha256, created, duration, channels, models
            case transactionKey = "transaction_key"
            case request = "request_id"
            case info = "model_info"
        }
    }

    private struct Problem: Encodable {
        let type = "Error"
        let variant: String
        let description: String
    }

    private struct ConfigureSuccess: Encodable {
        let type = "ConfigureSuccess"
        let request: String

        enum CodingKeys: String, CodingKey {
            case type
            case request = "request_id"
        }
    }

    /// - Returns: nil for what no message tells.
    func text(_ event: LiveEvent) throws -> String? {
        switch event {
        case .failed, .decoded: nil
        case .speechStarted(let channel, let time):
            try encoded(SpeechStarted(channel: place(channel), timestamp: time))
        case .utteranceEnd(let channel, let time):
            try encoded(UtteranceEnd(channel: place(channel), lastWordEnd: time))
        case .result(let result):
            try encoded(
                Results(
                    place: place(result.channel), duration: result.duration, start: result.start,
                    isFinal: result.isFinal, speechFinal: result.isFinal && result.endsSpeech,
                    fromFinalize: result.isAnswerToFinalize,
                    channel: .init(
                        alternatives: [
                            .init(
                                transcript: result.words.map { punctuates ? $0.punctuated ?? $0.text : $0.text }
                                    .joined(separator: " "),
                                confidence: Self.rounded(result.confidence),
                                words: result.words.map { ListenWord($0, punctuates: punctuates) })
                        ]),
                    metadata: .init(request: request, info: model, uuid: model.uuid)))
        }
    }

    /// The last of all. The hash is over the audio that was sent (streaming.md 1.5).
    func metadata(duration: Double, hash: SHA256Digest) throws -> String {
        try encoded(
            Metadata(
                request: request, sha256: Hex.encode(hash), created: createdAt.apiTime,
                duration: Self.rounded(duration),
                channels: duration == 0 && !speaksSubQ ? 0 : channels, models: [model.uuid], info: [model.uuid: model]))
    }

    func schemaError() throws -> String {
        try encoded(Problem(variant: "SchemaError", description: "The message is none that is known here"))
    }

    func configured() throws -> String { try encoded(ConfigureSuccess(request: request)) }

    private func place(_ channel: Int) -> [Int] { speaksSubQ ? [channel] : [channel, channels] }

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    private func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
