import Engines
import HummingbirdCore
import ScribeDomain
import ScribeHTTP

/// Parses the query of live recognition (streaming.md 1.1, 1.8 and 3).
///
/// Unknown parameters are ignored, as the vendor ignores them: the SDK lets callers add any.
struct ListenQuery: Sendable {
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
    /// Longest model name, in bytes.
    private static let longestModel = 100
    /// Longest key term, in bytes.
    private static let longestTerm = 20_000
    private static let maxKeywords = 100
    private static let maxHints = 20
    /// Longest pair of `extra`, in characters.
    private static let longestExtra = 2048
    /// Silence after which an utterance may end, in milliseconds, as Deepgram takes it.
    private static let utteranceEnds = 1000...5000

    /// Pairs that each message repeats (Deepgram: extra metadata); the last value of a key counts.
    private(set) var extra: [(key: String, value: String)] = []
    /// Parts of the query that have no effect.
    private(set) var warnings: [ListenWarning] = []

    /// Parses a query.
    /// - Parameter models: Further names of models.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``, ``ListenError``.
    init(
        _ query: FlatDictionary<Substring, Substring>, at endpoint: Endpoint, of client: ListenClientProfile,
        speaksSubQ: Bool, models: Set<String> = []
    ) throws {
        let values = ListenValues(query)
        let isStrict = !speaksSubQ && endpoint != .samples
        // An older SDK writes the absent model as `None`.
        model = values.text(.model).flatMap { $0 == "None" ? nil : $0 }
        // Every message of a socket repeats the model name.
        if let model, !model.isPlain || model.utf8.count > Self.longestModel {
            throw ScribeError.invalidRequest(field: "model", problem: "is no model's name")
        }
        try readEncoding(values, at: endpoint, of: client, speaksSubQ: speaksSubQ)
        options.multichannel = try values.flag(.multichannel) ?? false
        options.interimResults = try values.flag(.interimResults) ?? speaksSubQ
        options.vadEvents = try values.flag(.vadEvents) ?? false
        let punctuate = try values.flag(.punctuate) ?? false
        let formats = try values.flag(.smartFormat) ?? false
        options.punctuate = punctuate || formats
        let diarizes = try values.flag(.diarize) ?? false
        options.diarize = diarizes || values.text(.diarizeModel) != nil
        options.model = model
        try readLanguage(values, at: endpoint)
        utterances = try values.flag(.utterances) ?? false
        paragraphs = try values.flag(.paragraphs) ?? false
        if let pause = values.text(.utterancePause) {
            guard let seconds = Double(pause), seconds > 0, seconds <= 60 else {
                throw ScribeError.invalidRequest(field: "utt_split", problem: "must be a number of seconds, 60 at most")
            }
            utterancePause = seconds
        }
        if let silence = values.text(.endpointing) {
            switch silence.lowercased() {
            case "true": break
            case "false":
                options.endpointing = nil
                options.isEndpointingExplicit = true
            default:
                options.isEndpointingExplicit = true
                options.endpointing = try values.integer(.endpointing).map { .milliseconds($0) }
            }
        }
        // Deepgram refuses other numbers with a sentence of its own.
        let gap =
            try isStrict
            ? values.text(.utteranceEnd).flatMap(Int.init) ?? values.integer(.utteranceEnd)
            : values.integer(.utteranceEnd)
        // Deepgram finds the end of an utterance in its interim results.
        options.utteranceEnd = options.interimResults || speaksSubQ ? gap.map { .milliseconds($0) } : nil
        options.finalizesSteadily = !speaksSubQ
        try readVocabulary(values)
        readExtra(values)
        let rules = ListenRules(values: values, model: model, isStream: endpoint != .recording)
        for refusal in rules.refusals(
            gap: gap, allowing: Self.utteranceEnds, language: options.language, models: models)
        {
            // SubQ's own cloud may take what Deepgram refuses.
            guard !isStrict else { throw refusal.error }
            warnings.append(refusal.warning)
        }
        warnings += rules.warnings(language: options.language)
    }

    private mutating func readEncoding(
        _ values: ListenValues, at endpoint: Endpoint, of client: ListenClientProfile, speaksSubQ: Bool
    ) throws {
        let word = values.text(.encoding)?.lowercased()
        let hasRate = values.text(.sampleRate) != nil
        if let word, endpoint != .recording || !Self.containers.contains(word) {
            if endpoint == .stream, let codec = Self.codecs[word] {
                let isOpus = codec == .opus && OpusDecoder.isAvailable
                guard isOpus || FFmpeg.isInstalled else {
                    throw ScribeError.invalidRequest(
                        field: "encoding", problem: "needs ffmpeg, which is not installed here")
                }
                options.codec = codec == .opus && !isOpus ? .ogg : codec
            } else if word == "wav", endpoint == .stream {
                isContainer = true
            } else if let known = Encoding(rawValue: word == "pcm" ? "linear16" : word) {
                encoding = known
                let isSubQ =
                    speaksSubQ || client.isSubQ || endpoint == .samples || word == "pcm" || !values.has("encoding")
                lacksRate = !isSubQ && !hasRate
            } else {
                let known = (Encoding.allCases.map(\.rawValue) + Self.codecs.keys.sorted()).joined(separator: ", ")
                throw ScribeError.invalidRequest(
                    field: "encoding",
                    problem: "must be one of \(known), or be left out where the audio says itself what it is")
            }
        } else {
            isContainer = endpoint == .recording || endpoint == .stream && !hasRate
        }
        options.sampleRate = try values.integer(.sampleRate) ?? 16_000
        // A recording may still turn out to be a container.
        if lacksRate, endpoint != .recording { throw Self.noRate }
        options.channels = try values.integer(.channels) ?? 1
        if options.codec == .opus {
            // Opus decodes to any of its rates; recognisers work at 16 kHz.
            options.sampleRate = 16_000
            guard options.channels <= 2 else {
                throw ScribeError.invalidRequest(field: "channels", problem: "must be 1 or 2 for Opus packets")
            }
        }
    }

    private mutating func readLanguage(_ values: ListenValues, at endpoint: Endpoint) throws {
        options.language = values.text(.language)
        if let language = options.language, !TransactionRequest.isLanguage(language),
            !["auto", "multi"].contains(language.lowercased())
        {
            throw ScribeError.invalidRequest(field: "language", problem: "must be a language such as en-IN, or multi")
        }
        if wordLanguages {
            let hints = values.list(.languageHint).map { $0.lowercased() }
            hintedLanguages = Array(hints.filter(TransactionRequest.isLanguage).prefix(Self.maxHints))
        }
        // A list of languages means true.
        if let detects = values.text(.detectLanguage)?.lowercased(), detects != "false" {
            let isTag = detects.wholeMatch(of: /[a-z]{2,3}(-[a-z0-9]{2,8})*/) != nil
            guard detects == "true" || isTag else {
                throw ScribeError.invalidRequest(
                    field: "detect_language", problem: "must be true, false or languages such as en")
            }
            detectLanguage = endpoint == .recording
        }
    }

    /// Reads key terms. Older ones (`keywords`) carry a weight after a colon, which is dropped.
    private mutating func readVocabulary(_ values: ListenValues) throws {
        let keywords = values.list(.keywords).map { String($0.prefix { $0 != ":" }) }
        let terms = (values.list(.keyterm).map(String.init) + keywords).filter { !$0.isEmpty }
        guard keywords.count <= Self.maxKeywords, terms.allSatisfy({ $0.utf8.count <= Self.longestTerm }) else {
            throw ScribeError.invalidRequest(
                field: "keyterm", problem: "is there more than \(Self.maxKeywords) times, or too long")
        }
        // More are refused, or told.
        options.vocabulary = Array(terms.prefix(ListenRules.maxTokens))
    }

    private mutating func readExtra(_ values: ListenValues) {
        for pair in values.list(.extra) where !pair.isEmpty {
            guard pair.count <= Self.longestExtra, let colon = pair.firstIndex(of: ":"), colon > pair.startIndex else {
                let warning = ListenWarning(
                    .extra, "must be key:value of at most \(Self.longestExtra) characters; a pair is left out")
                if !warnings.contains(warning) { warnings.append(warning) }
                continue
            }
            let key = String(pair[..<colon])
            extra.removeAll { $0.key == key }
            extra.append((key, String(pair[pair.index(after: colon)...])))
        }
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
}
