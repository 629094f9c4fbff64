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
    /// The words that are likely from now on; nil where it changes other things.
    case configure(keyterms: [String]?)
    /// Something else; what it says of itself is not repeated, for it may be anything.
    case unknown

    private struct Body: Decodable {
        let type: String
        let keyterms: [String]?

        enum CodingKeys: String, CodingKey { case type, keyterms }

        init(from decoder: any Decoder) throws {
            let body = try decoder.container(keyedBy: CodingKeys.self)
            type = try body.decode(String.self, forKey: .type)
            // Other commands may have anything under this name.
            keyterms = type == "Configure" ? try body.decodeIfPresent([String].self, forKey: .keyterms) : nil
        }
    }

    init(_ text: String) {
        let body = JSONDocument.untrusted(Data(text.utf8), as: Body.self)
        switch body?.type {
        case "KeepAlive": self = .keepAlive
        case "Finalize": self = .finalize
        case "CloseStream": self = .closeStream
        case "Configure": self = .configure(keyterms: body?.keyterms)
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
    /// Whether each word's language is told.
    let tellsLanguages: Bool
    let speaksSubQ: Bool

    private struct Results: Encodable {
        struct Channel: Encodable {
            struct Alternative: Encodable {
                let transcript: String
                let confidence: Double
                let words: [ListenWord]
                let languages: [String]?
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
        let keyterms: [String]?

        enum CodingKeys: String, CodingKey {
            case type, keyterms
            case request = "request_id"
        }
    }

    private struct ConfigureFailure: Encodable {
        let type = "ConfigureFailure"
        let request: String
        let code: String
        let description: String

        enum CodingKeys: String, CodingKey {
            case type, code, description
            case request = "request_id"
        }
    }

    /// The most words in all key terms together, for what the vendor counts as tokens.
    private static let mostTokens = 500

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
                                words: result.words.map {
                                    ListenWord($0, punctuates: punctuates, tellsLanguage: tellsLanguages)
                                }, languages: tellsLanguages ? result.words.languages : nil)
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

    /// - Parameter keyterms: that a client wants; nil where it wants other things.
    /// - Returns: the answer, and whether they are in effect from now on.
    func configured(_ keyterms: [String]?) throws -> (text: String, isTaken: Bool) {
        if let keyterms {
            guard model.name.hasPrefix("nova-3") else {
                return (
                    try refusal(
                        "CONFIGURE_KEYTERMS_NOT_SUPPORTED", "Key terms are replaced for models of the kind nova-3 only"),
                    false
                )
            }
            guard keyterms.reduce(0, { $0 + $1.split { $0.isWhitespace }.count }) <= Self.mostTokens else {
                return (
                    try refusal(
                        "CONFIGURE_KEYTERM_LIMIT_EXCEEDED", "The key terms are more than \(Self.mostTokens) tokens"),
                    false
                )
            }
        }
        return (try encoded(ConfigureSuccess(request: request, keyterms: keyterms)), keyterms != nil)
    }

    private func refusal(_ code: String, _ description: String) throws -> String {
        try encoded(
            ConfigureFailure(
                request: request, code: code, description: description))
    }

    private func place(_ channel: Int) -> [Int] { speaksSubQ ? [channel] : [channel, channels] }

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    private func encoded(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
