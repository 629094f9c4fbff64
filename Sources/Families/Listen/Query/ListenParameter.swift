/// Query parameter of `/v1/listen`. The table decides what is read and what is only told; a page and a test list it.
///
/// Source: Deepgram's API specification of 22 July 2026 (deepgram-api-specs, 4ba987cf), its pages, and SubQ's pages for
/// other names of the same.
struct ListenParameter: Hashable, Sendable {
    /// Form of the value.
    enum Form: Hashable, Sendable {
        case flag
        case integer(ClosedRange<Int>)
        case number
        case text
        /// A text that may be repeated.
        case list
    }

    let name: String
    /// Other names of it, which SubQ's clients use.
    let aliases: [String]
    let form: Form
    /// Remark on a parameter without effect, as a sentence without its subject; nil if it has its effect.
    let problem: String?
    /// A value that asks for nothing.
    private let neutral: String?

    private init(
        _ name: String, aliases: [String] = [], _ form: Form, problem: String? = nil, neutral: String? = nil
    ) {
        self.name = name
        self.aliases = aliases
        self.form = form
        self.problem = problem
        self.neutral = neutral
    }

    private static func notEmulated(_ name: String, _ form: Form, neutral: String? = nil) -> Self {
        Self(name, form, problem: "is not emulated", neutral: form == .flag ? "false" : neutral)
    }

    /// Whether a value asks for something.
    func asks(_ value: Substring) -> Bool { !value.isEmpty && value.lowercased() != neutral }

    /// Longest silence of other dialects than Deepgram's, in milliseconds.
    private static let longestSilence = 60_000

    static let model = Self("model", .text)
    static let encoding = Self("encoding", aliases: ["format", "codec"], .text)
    static let sampleRate = Self("sample_rate", .integer(8000...48_000))
    static let channels = Self("channels", .integer(1...20))
    static let multichannel = Self("multichannel", .flag)
    static let interimResults = Self("interim_results", .flag)
    static let vadEvents = Self("vad_events", .flag)
    static let punctuate = Self("punctuate", .flag)
    static let smartFormat = Self("smart_format", .flag)
    static let diarize = Self("diarize", aliases: ["diarization"], .flag)
    static let diarizeModel = Self("diarize_model", .text)
    static let language = Self("language", aliases: ["lang"], .text)
    static let languageHint = Self("language_hint", .list)
    static let detectLanguage = Self("detect_language", .text)
    static let keyterm = Self("keyterm", .list)
    static let keywords = Self("keywords", .list)
    static let utterances = Self("utterances", .flag)
    static let paragraphs = Self("paragraphs", .flag)
    static let utterancePause = Self("utt_split", .number)
    static let endpointing = Self("endpointing", .integer(0...longestSilence))
    static let utteranceEnd = Self("utterance_end_ms", .integer(1...longestSilence))
    static let extra = Self("extra", .list)
    static let callback = Self("callback", .text)
    static let callbackMethod = Self("callback_method", .text)

    /// Parameters that have their effect.
    static let emulated = [
        model, encoding, sampleRate, channels, multichannel, interimResults, vadEvents, punctuate, smartFormat,
        diarize, diarizeModel, language, languageHint, detectLanguage, keyterm, keywords, utterances, paragraphs,
        utterancePause, endpointing, utteranceEnd, extra, callback, callbackMethod,
    ]

    /// Parameters of the vendor that are taken and told.
    static let others = [
        notEmulated("alternatives", .integer(1...10), neutral: "1"),
        notEmulated("custom_intent", .list),
        notEmulated("custom_intent_mode", .text, neutral: "extended"),
        notEmulated("custom_topic", .list),
        notEmulated("custom_topic_mode", .text, neutral: "extended"),
        notEmulated("detect_entities", .flag), notEmulated("detect_topics", .flag),
        notEmulated("diarize_version", .text), notEmulated("dictation", .flag), notEmulated("filler_words", .flag),
        notEmulated("inspect_response", .flag),
        notEmulated("intents", .flag), notEmulated("measurements", .flag),
        notEmulated("mip_opt_out", .flag), notEmulated("ner", .flag), notEmulated("no_delay", .flag),
        notEmulated("numerals", .flag), notEmulated("profanity_filter", .flag),
        notEmulated("redact", .list, neutral: "false"), notEmulated("replace", .list), notEmulated("search", .list),
        notEmulated("sentiment", .flag), notEmulated("summarize", .text, neutral: "false"), notEmulated("tag", .list),
        notEmulated("tier", .text), notEmulated("topics", .flag), notEmulated("version", .text, neutral: "latest"),
    ]

    static let all = emulated + others
}
