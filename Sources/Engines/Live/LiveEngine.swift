import Basics
import Foundation
package import NIOCore
package import ScribeDomain

/// Live speech recogniser: turns a stream of audio into words while it is spoken.
///
/// A server has one live engine for all tenants. Its callers are the sockets of `/v1/listen` and `/v4/listen`, one
/// session for each. Sessions overlap, and their calls come on event loops: work that blocks or takes long needs other
/// threads, see ``EventLoopOffload``.
package protocol LiveEngine: Sendable {
    /// Name of the engine in logs, for example `fake`.
    var name: String { get }
    /// Whether the engine takes streams now, for `/readyz` and `/metrics`. Read often: it asks no service.
    var condition: EngineCondition { get }

    /// Recognises one stream for as long as `body` runs. On return all results have been emitted.
    ///
    /// A cancellation of the task ends the session soon, without further results. The server cancels the task when it
    /// stops. When a client leaves, `body` still closes the session, and the results of its audio count.
    /// - Parameters:
    ///   - options: format of the audio and what the client asked for; constant during the stream.
    ///   - emit: receives the events, one after another in the order of the stream. It returns when there is room for
    ///     more, which gives back-pressure. It may be called from other tasks than the caller's.
    ///   - body: feeds the session. Its last call is ``LiveSession/close()``, unless it throws.
    /// - Throws: ``EngineFailure`` if recognition ends early, which is also emitted as ``LiveEvent/failed(_:)``; errors
    ///   of `body` and `emit`; `CancellationError`.
    func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws
}

/// Live stream of audio. Calls must not overlap; their results may be emitted later.
///
/// After a failure each call throws the same ``EngineFailure``. A call waits while the engine is behind, so that a
/// client cannot send faster than the engine works.
package protocol LiveSession: Sendable {
    /// Feeds audio: 16-bit little-endian samples with interleaved channels, or bytes of
    /// ``LiveOptions/codec``, cut anywhere, even within a sample.
    /// - Parameter audio: bytes of any number; callers pass larger ones to ``feedInPieces(_:)``.
    /// - Throws: ``EngineFailure``, errors of `emit`.
    mutating func feed(_ audio: ByteBuffer) async throws

    /// Replaces ``LiveOptions/vocabulary`` for the rest of the stream. An engine without a vocabulary ignores the call.
    /// - Throws: ``EngineFailure``, errors of `emit`.
    mutating func expect(_ vocabulary: [String]) async throws

    /// Requests final results for the audio fed before this call; the stream continues. The last one of each
    /// channel has ``LiveResult/fromFinalize``, also where no word is left.
    /// - Throws: ``EngineFailure``, errors of `emit`.
    mutating func finalize() async throws

    /// Ends the stream and emits the final results of its rest. No call follows.
    /// - Throws: ``EngineFailure``, errors of `emit`.
    mutating func close() async throws
}

extension LiveEngine {
    package var condition: EngineCondition { .available }
}

extension LiveSession {
    /// Feeds audio of any size in pieces, so that other tasks run in between.
    package mutating func feedInPieces(_ audio: ByteBuffer) async throws {
        var rest = audio
        while let piece = rest.readSlice(length: min(EventLoopOffload.threshold, rest.readableBytes)) {
            try await feed(piece)
            guard rest.readableBytes > 0 else { return }
            await EventLoopOffload.yield()
        }
    }
}

/// Options of a live stream.
package struct LiveOptions: Hashable, Sendable {
    /// Samples of a channel per second.
    package var sampleRate = 16_000
    /// Number of channels in the audio.
    package var channels = 1
    /// Codec of the audio; nil for samples.
    package var codec: StreamCodec?
    /// Whether each channel is recognised separately; otherwise the channels are mixed.
    package var multichannel = false
    /// Whether interim results, which may still change, are emitted.
    package var interimResults = false
    /// Silence that ends an utterance; nil for none.
    package var endpointing: Duration? = .milliseconds(300)
    /// Whether the client set the endpointing; otherwise a service uses its own default.
    package var isEndpointingExplicit = false
    /// Silence after which `utteranceEnd` is emitted; nil for never.
    package var utteranceEnd: Duration?
    /// Whether all audio becomes final within five seconds, and words before `utteranceEnd`. Silence then has results
    /// without words. Otherwise only speech has results, which end with a pause.
    package var finalizesSteadily = false
    /// Whether the beginning of speech is emitted.
    package var vadEvents = false
    package var punctuate = false
    /// Whether words carry speaker numbers.
    package var diarize = false
    /// Spoken language; nil if unknown, `multi` or `auto` for detection.
    package var language: String?
    /// Recogniser model that the client asks for; nil for the default.
    package var model: String?
    /// Words that the recogniser should expect.
    package var vocabulary: [String] = []
    /// Tenant of the stream: waiting recognitions of several tenants take turns.
    package var tenant = ""

    package init() {}

    /// Languages for a transcriber; empty if it is to detect the language.
    package var languages: [String] {
        language.map { ["auto", "multi"].contains($0.lowercased()) ? [] : [$0] } ?? []
    }
}

/// Event of a live stream.
package enum LiveEvent: Hashable, Sendable {
    /// Speech begins, at a second of the stream.
    case speechStarted(channel: Int, at: Double)
    case result(LiveResult)
    /// Silence has lasted for the requested `utteranceEnd`.
    case utteranceEnd(channel: Int, lastWordEnd: Double)
    /// Decoded samples of an encoded stream, emitted before their recognition.
    case decoded(ByteBuffer)
    /// Recognition has failed and ends. Further calls of the session throw the same failure.
    case failed(EngineFailure)
}

/// Words of a time span. Times are in seconds from the beginning of the stream.
package struct LiveResult: Hashable, Sendable {
    package let channel: Int
    package let start: Double
    package let duration: Double
    package let words: [LiveWord]
    /// Whether the result is final: the next result begins after its span.
    package let isFinal: Bool
    /// Whether the utterance has ended.
    package let speechFinal: Bool
    /// Whether this result answers ``LiveSession/finalize()``.
    package let fromFinalize: Bool

    package var confidence: Double {
        words.isEmpty ? 0 : words.total(\.confidence) / Double(words.count)
    }
}

/// Recognised word of a live stream, with times in seconds from the beginning of the stream.
package struct LiveWord: Hashable, Sendable {
    /// Word in lower case, without punctuation.
    package let text: String
    /// Word with case and punctuation; nil if not requested.
    package let punctuated: String?
    package let start: Double
    package let end: Double
    /// Confidence from 0 to 1.
    package let confidence: Double
    package let speaker: Int?
    /// Language tag of the word, such as `en`; nil if the recogniser gives none.
    package let language: String?
}

extension LiveWord {
    /// Creates a live word from a word of a finished recording.
    package init(_ word: TimedWord, confidence: Double, punctuate: Bool, language: String? = nil) {
        self.init(
            text: word.bare, punctuated: punctuate ? word.text : nil, start: word.start, end: word.end,
            confidence: confidence, speaker: word.speaker, language: language)
    }
}

extension RecognisedSpeech {
    /// Confidence of each word: the recogniser's overall confidence, or an estimate from its warnings.
    package var wordConfidence: Double { confidence ?? (warnings.contains { $0.code == .lowConfidence } ? 0.4 : 0.95) }
}

extension TimedWord {
    /// Word in lower case, without surrounding punctuation.
    package var bare: String {
        let bare = text.lowercased().trimmingCharacters(in: .punctuationCharacters)
        return bare.isEmpty ? text : bare
    }
}
