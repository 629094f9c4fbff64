import Foundation
package import NIOCore
package import ScribeDomain

/// Turns speech into words while it is spoken.
package protocol LiveEngine: Sendable {
    /// How it is called in logs, for example `fake`.
    var name: String { get }
    /// Whether streams are listened to now.
    var condition: EngineCondition { get }

    /// Listens to one stream for as long as `body` takes. All that was heard has been told when it returns.
    /// - Parameter emit: gets what is heard, in order; it returns when there is room for more.
    /// - Throws: ``EngineFailure`` where nothing more can be heard, which is also told; what `body` and `emit` throw.
    func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws
}

/// One stream of audio that is listened to. Its calls are made one after the other; what comes of them may come later.
package protocol LiveSession: Sendable {
    /// Hears more: 16-bit little-endian samples, channels in turn, or what ``LiveOptions/codec`` says; cut anywhere.
    /// - Throws: ``EngineFailure``, what `emit` throws.
    mutating func feed(_ audio: ByteBuffer) async throws

    /// Replaces ``LiveOptions/vocabulary`` for the rest of the stream.
    mutating func expect(_ vocabulary: [String]) async throws

    /// Settles what was heard so far; the stream goes on.
    mutating func finalize() async throws

    /// Settles what was heard; there is no more.
    mutating func close() async throws
}

extension LiveEngine {
    package var condition: EngineCondition { .available }
}

extension LiveSession {
    /// Hears more, however much that is: in pieces, between which others get their turn.
    package mutating func feedInPieces(_ audio: ByteBuffer) async throws {
        var rest = audio
        while let piece = rest.readSlice(length: min(LongWork.threshold, rest.readableBytes)) {
            try await feed(piece)
            guard rest.readableBytes > 0 else { return }
            await LongWork.yield()
        }
    }
}

/// How a stream is to be listened to.
package struct LiveOptions: Hashable, Sendable {
    /// Samples of a channel in a second.
    package var sampleRate = 16_000
    /// In the audio.
    package var channels = 1
    /// What the audio comes as; nil for samples.
    package var codec: StreamCodec?
    /// Whether each channel is heard by itself; else they are heard together.
    package var hearsEachChannel = false
    /// Whether what may still change is told too.
    package var tellsInterims = false
    /// The silence that ends what was said; nil when none does.
    package var endpointing: Duration? = .milliseconds(300)
    /// Whether a client has named it; else a service has a usual one of its own.
    package var namesEndpointing = false
    /// The silence after which an utterance is over; nil when nobody wants to know.
    package var utteranceEnd: Duration?
    /// Whether the beginning of speech is told.
    package var tellsSpeech = false
    package var punctuates = false
    /// Whether who speaks is told apart.
    package var tellsSpeakers = false
    /// What is spoken; nil where nobody says, `multi` or `auto` where the recogniser is to find out.
    package var language: String?
    /// The recogniser's model, where somebody asks for one.
    package var model: String?
    /// Words that are likely.
    package var vocabulary: [String] = []
    /// Whose it is: where recognitions wait, tenants take turns.
    package var tenant = ""

    package init() {}

    /// As transcribers want to know it: nothing where they are to find out.
    package var languages: [String] {
        language.map { ["auto", "multi"].contains($0.lowercased()) ? [] : [$0] } ?? []
    }
}

/// What was heard.
package enum LiveEvent: Hashable, Sendable {
    /// Somebody begins to speak, at that second of the stream.
    case speechStarted(channel: Int, at: Double)
    case result(LiveResult)
    /// Nobody has spoken for as long as was asked for.
    case utteranceEnd(channel: Int, lastWordEnd: Double)
    /// The samples of a stream that came encoded, before they are heard.
    case decoded(ByteBuffer)
    /// Nothing more will be heard. What is called next of the session throws the same.
    case failed(EngineFailure)
}

/// The words of a span of a stream. Times are seconds from its beginning.
package struct LiveResult: Hashable, Sendable {
    package let channel: Int
    package let start: Double
    package let duration: Double
    package let words: [LiveWord]
    /// Whether the span is settled: what comes next begins behind it.
    package let isFinal: Bool
    /// Whether what was said has ended.
    package let endsSpeech: Bool
    /// Whether this answers ``LiveSession/finalize()``.
    package let isAnswerToFinalize: Bool

    package var confidence: Double {
        words.isEmpty ? 0 : words.reduce(0) { $0 + $1.confidence } / Double(words.count)
    }
}

package struct LiveWord: Hashable, Sendable {
    /// In lower case and without punctuation.
    package let text: String
    /// As it stands in a sentence, where that was asked for.
    package let punctuated: String?
    package let start: Double
    package let end: Double
    /// From 0 to 1.
    package let confidence: Double
    package let speaker: Int?
    /// The word's language, a tag such as `en`; nil when the recogniser does not tell it.
    package let language: String?

    /// A word of something that was recognised as a whole.
    package init(_ word: TimedWord, confidence: Double, punctuates: Bool, language: String? = nil) {
        self.init(
            text: word.bare, punctuated: punctuates ? word.text : nil, start: word.start, end: word.end,
            confidence: confidence, speaker: word.speaker, language: language)
    }

    package init(
        text: String, punctuated: String?, start: Double, end: Double, confidence: Double, speaker: Int?,
        language: String? = nil
    ) {
        self.language = language
        self.text = text
        self.punctuated = punctuated
        self.start = start
        self.end = end
        self.confidence = confidence
        self.speaker = speaker
    }
}

extension RecognisedSpeech {
    /// How sure each word is: as the recogniser tells of the whole, or as its doubts let expect.
    package var sureness: Double { confidence ?? (warnings.contains { $0.code == .lowConfidence } ? 0.4 : 0.95) }
}

extension TimedWord {
    /// In lower case and without punctuation around it.
    package var bare: String {
        let bare = text.lowercased().trimmingCharacters(in: .punctuationCharacters)
        return bare.isEmpty ? text : bare
    }
}
