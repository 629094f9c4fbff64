import Basics
import Crypto
import Engines
import Foundation

/// Text commands of a client (streaming.md 1.4).
enum ListenCommand: Hashable, Sendable {
    case keepAlive
    case finalize
    case closeStream
    /// Replaces the key terms from now on; nil if other settings change.
    case configure(keyterms: [String]?)
    /// An unknown command. Its text is not echoed, since it may contain anything.
    case unknown

    private struct Body: Decodable {
        let type: String
        let keyterms: [String]?

        enum CodingKeys: String, CodingKey { case type, keyterms }

        init(from decoder: any Decoder) throws {
            let body = try decoder.container(keyedBy: CodingKeys.self)
            type = try body.decode(String.self, forKey: .type)
            // Other commands may have a `keyterms` of any type.
            keyterms = type == "Configure" ? try body.decodeIfPresent([String].self, forKey: .keyterms) : nil
        }
    }

    init(_ text: String) {
        let body = JSONDocument.untrusted(Data(text.utf8), as: Body.self, upTo: JSONDocument.maxValuesOfMessage)
        switch body?.type {
        case "KeepAlive": self = .keepAlive
        case "Finalize": self = .finalize
        case "CloseStream": self = .closeStream
        case "Configure": self = .configure(keyterms: body?.keyterms)
        default: self = .unknown
        }
    }
}

/// Encodes the messages of one socket (streaming.md 1.5).
struct ListenMessages: Sendable {
    let request: String
    let query: ListenQuery
    let model: ListenModel
    /// Channels of the audio.
    let channels: Int
    let createdAt: Date
    let speaksSubQ: Bool

    /// Encodes an engine event as a socket message.
    /// - Returns: nil for an event without a message.
    func json(_ event: LiveEvent) -> JSON? {
        switch event {
        case .failed, .decoded: nil
        case .speechStarted(let channel, let time):
            ["type": "SpeechStarted", "channel": place(channel), "timestamp": .number(time)]
        case .utteranceEnd(let channel, let time):
            ["type": "UtteranceEnd", "channel": place(channel), "last_word_end": .number(time)]
        case .result(let result): json(result)
        }
    }

    private func json(_ result: LiveResult) -> JSON {
        let punctuate = query.options.punctuate
        let words = result.words.map { punctuate ? $0.punctuated ?? $0.text : $0.text }
        let alternative: JSON = [
            "transcript": .string(words.joined(separator: " ")), "confidence": .number(result.confidence.inThousandths),
            "words": .array(result.words) { $0.json(punctuate: punctuate, tellsLanguage: query.wordLanguages) },
            "languages": query.wordLanguages ? .array(result.words.languages, JSON.string) : nil,
            "languages_hinted": query.hintedLanguages.map { .array($0, JSON.string) },
        ]
        return [
            "type": "Results", "channel_index": place(result.channel), "duration": .number(result.duration),
            "start": .number(result.start), "is_final": .bool(result.isFinal),
            "speech_final": .bool(result.isFinal && result.speechFinal),
            "from_finalize": .bool(result.fromFinalize), "channel": ["alternatives": [alternative]],
            "metadata": [
                "request_id": .string(request), "model_info": model.json, "model_uuid": .string(model.uuid),
                "extra": .extra(query.extra),
            ],
        ]
    }

    /// Encodes the Metadata message, the last one of a socket. SubQ's dialect also sends one first, with duration 0.
    /// The hash covers the audio as sent (streaming.md 1.5).
    func metadata(duration: Double, hash: SHA256Digest) -> JSON {
        (["type": "Metadata"] as JSON).adding(
            model.metadata(
                request: request, hash: hash, createdAt: createdAt, duration: duration.inThousandths,
                channels: duration == 0 && !speaksSubQ ? 0 : channels, extra: query.extra))
    }

    static let schemaError: JSON = [
        "type": "Error", "variant": "SchemaError", "description": "The message is of no known type",
    ]

    /// Answers a `Configure` command.
    /// - Parameter keyterms: The key terms; nil if the command changes other settings.
    /// - Returns: The answer, and whether the key terms take effect.
    func configured(_ keyterms: [String]?) -> (answer: JSON, isTaken: Bool) {
        if let keyterms {
            guard model.name.hasPrefix("nova-3") else {
                return refusal(
                    "CONFIGURE_KEYTERMS_NOT_SUPPORTED", "Key terms are replaced for models of the kind nova-3 only")
            }
            guard ListenRules.tokens(in: keyterms) <= ListenRules.maxTokens else {
                return refusal(
                    "CONFIGURE_KEYTERM_LIMIT_EXCEEDED",
                    "The key terms are more than \(ListenRules.maxTokens) tokens")
            }
        }
        let answer: JSON = [
            "type": "ConfigureSuccess", "request_id": .string(request),
            "keyterms": keyterms.map { .array($0, JSON.string) },
        ]
        return (answer, keyterms != nil)
    }

    private func refusal(_ code: String, _ description: String) -> (answer: JSON, isTaken: Bool) {
        let answer: JSON = [
            "type": "ConfigureFailure", "request_id": .string(request), "code": .string(code),
            "description": .string(description),
        ]
        return (answer, false)
    }

    private func place(_ channel: Int) -> JSON {
        .array(speaksSubQ ? [channel] : [channel, query.options.multichannel ? channels : 1], JSON.integer)
    }
}
