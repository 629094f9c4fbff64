import Engines
import HummingbirdCore
import ScribeDomain
import ScribeHTTP

/// Parses the query of live recognition (streaming.md 1.1, 1.8 and 3).
///
/// Unknown parameters are ignored: the SDK lets callers add any.
struct ListenQuery: Hashable, Sendable {
    /// Encoding of raw samples.
    enum Encoding: String, Hashable, Sendable, CaseIterable {
        case linear16, linear32, mulaw, alaw

        /// `linear32` has floating-point samples, as Deepgram's page on encodings says.
        var format: SampleFormat {
            switch self {
            case .linear16: .signed16
            case .linear32: .float32
            case .mulaw: .mulaw
            case .alaw: .alaw
            }
        }
    }

    /// Endpoint that received the query.
    enum Endpoint: Hashable, Sendable {
        /// `/v1/listen` as a WebSocket.
        case stream
        /// `/v1/listen/pcm`: raw samples only.
        case samples
        /// `POST /v1/listen`: a whole recording; a container describes itself.
        case recording
    }

    var options = LiveOptions()
    var encoding = Encoding.linear16
    /// Whether the audio is a container that describes itself: no encoding was named. A named encoding is that of audio
    /// without a container.
    var isContainer = false
    /// Whether raw samples were named without their rate.
    private(set) var lacksRate = false
    var model: String?
    /// Whether each word has its language.
    var wordLanguages: Bool { options.language?.lowercased() == "multi" }
    /// Languages that the client expects, which each result repeats; nil unless each word has its language.
    private(set) var hintedLanguages: [String]?
    /// Whether to detect a recording's language and return it.
    var detectLanguage = false
    /// Whether a recording's answer also has utterances and paragraphs.
    var utterances = false
    var paragraphs = false
    /// Pause that separates utterances, in seconds.
    var utterancePause = 0.8

    /// Encodings that name a container. They are ignored: the recording's header is more reliable.
    private static let containers: Set = [
        "mp3", "aac", "flac", "wav", "ogg", "webm", "opus", "ogg-opus", "m4a", "mp4",
    ]
    /// Compressed formats of a stream. Speex comes in Ogg.
    private static let codecs: [String: StreamCodec] = [
        "aac": .aac, "amr-nb": .amrNarrow, "amr-wb": .amrWide, "flac": .flac, "g729": .g729, "m4a": .mp4, "mp3": .mp3,
        "mp4": .mp4, "ogg": .ogg, "ogg-opus": .ogg, "opus": .opus, "speex": .ogg, "webm": .webm,
    ]
    /// Accepted sample rates, in Hz.
    private static let rates = 8000...48_000
    private static let maxChannels = 8
    /// Longest model name and key term, in bytes.
    private static let longestModel = 100
    private static let maxWords = 100
    private static let maxHints = 20
    /// Longest silence for endpointing and utterance ends, in milliseconds.
    private static let longestSilence = 60_000

    /// Parses a query.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init(
        _ query: FlatDictionary<Substring, Substring>, at endpoint: Endpoint, of client: ListenClientProfile,
        speaksSubQ: Bool
    ) throws(ScribeError) {
        func text(_ names: String...) -> String? { names.lazy.compactMap { query.text($0) }.first }
        model = text("model")
        // Every message of a socket repeats the model name.
        if let model, !model.isPlain || model.utf8.count > Self.longestModel {
            throw .invalidRequest(field: "model", problem: "is no model's name")
        }
        let word = text("encoding", "format", "codec")?.lowercased()
        if let word, endpoint != .recording || !Self.containers.contains(word) {
            if endpoint == .stream, let codec = Self.codecs[word] {
                let isOpus = codec == .opus && OpusDecoder.isAvailable
                guard isOpus || DecodingLiveEngine.isAvailable else {
                    throw .invalidRequest(field: "encoding", problem: "needs ffmpeg, which is not installed here")
                }
                options.codec = codec == .opus && !isOpus ? .ogg : codec
            } else if word == "wav", endpoint == .stream {
                isContainer = true
            } else if let known = Encoding(rawValue: word == "pcm" ? "linear16" : word) {
                encoding = known
                let isSubQ =
                    speaksSubQ || client.isSubQ || endpoint == .samples || word == "pcm" || text("encoding") == nil
                lacksRate = !isSubQ && text("sample_rate") == nil
            } else {
                throw .invalidRequest(
                    field: "encoding",
                    problem:
                        "must be one of \((Encoding.allCases.map(\.rawValue) + Self.codecs.keys.sorted()).joined(separator: ", ")), "
                        + "or be left out where the audio says itself what it is")
            }
        } else {
            isContainer = endpoint == .recording || endpoint == .stream && text("sample_rate") == nil
        }
        options.sampleRate = try Self.integer("sample_rate", in: Self.rates, of: query) ?? 16_000
        // A recording may still turn out to be a container.
        if lacksRate, endpoint != .recording { throw Self.noRate }
        options.channels = try Self.integer("channels", in: 1...Self.maxChannels, of: query) ?? 1
        if options.codec == .opus {
            // Opus decodes to any of its rates; recognisers work at 16 kHz.
            options.sampleRate = 16_000
            guard options.channels <= 2 else {
                throw .invalidRequest(field: "channels", problem: "must be 1 or 2 for Opus packets")
            }
        }
        options.multichannel = try Self.boolean(text("multichannel"), "multichannel") ?? false
        options.interimResults = try Self.boolean(text("interim_results"), "interim_results") ?? speaksSubQ
        options.vadEvents = try Self.boolean(text("vad_events"), "vad_events") ?? false
        let punctuate = try Self.boolean(text("punctuate"), "punctuate") ?? false
        let formats = try Self.boolean(text("smart_format"), "smart_format") ?? false
        options.punctuate = punctuate || formats
        let diarizes = try Self.boolean(text("diarize", "diarization"), "diarize") ?? false
        if text("diarize_model") == "v2" {
            throw .invalidRequest(field: "diarize_model", problem: "v2 is not for streams")
        }
        options.diarize = diarizes || text("diarize_model") != nil
        options.language = text("language", "lang")
        if let language = options.language, !TransactionRequest.isLanguage(language),
            !["auto", "multi"].contains(language.lowercased())
        {
            throw .invalidRequest(field: "language", problem: "must be a language such as en-IN, or multi")
        }
        if wordLanguages {
            let hints = query[values: "language_hint"].map { $0.lowercased() }
            hintedLanguages = Array(hints.filter(TransactionRequest.isLanguage).prefix(Self.maxHints))
        }
        // A list of languages means true.
        if let detects = text("detect_language")?.lowercased(), detects != "false" {
            let isTag = detects.wholeMatch(of: /[a-z]{2,3}(-[a-z0-9]{2,8})*/) != nil
            guard detects == "true" || isTag else {
                throw .invalidRequest(field: "detect_language", problem: "must be true, false or languages such as en")
            }
            detectLanguage = endpoint == .recording
        }
        options.model = model
        options.vocabulary = try Self.words(query[values: "keyterm"] + query[values: "keywords"])
        utterances = try Self.boolean(text("utterances"), "utterances") ?? false
        paragraphs = try Self.boolean(text("paragraphs"), "paragraphs") ?? false
        if let pause = text("utt_split") {
            guard let seconds = Double(pause), seconds > 0, seconds <= 60 else {
                throw .invalidRequest(field: "utt_split", problem: "must be a number of seconds, 60 at most")
            }
            utterancePause = seconds
        }
        if let silence = text("endpointing") {
            switch silence.lowercased() {
            case "true": break
            case "false":
                options.endpointing = nil
                options.isEndpointingExplicit = true
            default:
                options.isEndpointingExplicit = true
                let milliseconds = try Self.integer("endpointing", in: 0...Self.longestSilence, of: query)
                options.endpointing = milliseconds.map { .milliseconds($0) }
            }
        }
        let gap = try Self.integer("utterance_end_ms", in: 1...Self.longestSilence, of: query)
        // Deepgram finds the end of an utterance in its interim results.
        options.utteranceEnd = options.interimResults || speaksSubQ ? gap.map { .milliseconds($0) } : nil
        options.finalizesSteadily = !speaksSubQ
    }

    /// The format of a recording without a header; nil for a container, which describes itself.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` without the samples' rate.
    func samples() throws(ScribeError) -> WaveHeader? {
        if lacksRate { throw Self.noRate }
        return isContainer
            ? nil : WaveHeader(encoding.format, channels: options.channels, sampleRate: options.sampleRate)
    }

    /// Deepgram demands the rate; the sentence is ours.
    private static let noRate = ScribeError.invalidRequest(
        field: "sample_rate", problem: "is needed with the encoding of raw samples, in Hz")

    /// Parses key terms. Older ones (`keywords`) carry a weight after a colon, which is dropped.
    private static func words(_ terms: [Substring]) throws(ScribeError) -> [String] {
        let words = terms.map { String($0.prefix { $0 != ":" }) }.filter { !$0.isEmpty }
        guard words.count <= maxWords, words.allSatisfy({ $0.utf8.count <= longestModel }) else {
            throw .invalidRequest(field: "keyterm", problem: "is there more than \(maxWords) times, or too long")
        }
        return words
    }

    /// Parses an integer; an empty parameter counts as absent.
    private static func integer(
        _ name: String, in range: ClosedRange<Int>, of query: FlatDictionary<Substring, Substring>
    ) throws(ScribeError) -> Int? {
        query.text(name) == nil ? nil : try query.integer(name, in: range)
    }

    private static func boolean(_ text: String?, _ field: String) throws(ScribeError) -> Bool? {
        switch text?.lowercased() {
        case nil: return nil
        case "true": return true
        case "false": return false
        default: throw .invalidRequest(field: field, problem: "must be true or false")
        }
    }
}
