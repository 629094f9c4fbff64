import Engines
import HummingbirdCore
import ScribeDomain

/// What a client asks for in the address of its socket (streaming.md 1.1 and 3). Parameters that nobody knows are passed
/// over: the SDK lets its callers add any.
struct ListenQuery: Hashable, Sendable {
    /// How samples are written.
    enum Encoding: String, Hashable, Sendable, CaseIterable {
        case linear16, linear32, mulaw, alaw
    }

    var options = LiveOptions()
    var encoding = Encoding.linear16
    /// Whether the stream says itself what it is: no encoding was named.
    var isContainer = false
    var model: String?

    /// The rates that there is audio of, in Hz.
    private static let rates = 8000...48_000
    private static let mostChannels = 8
    /// The longest silence that can be waited for.
    private static let longestSilence = 60_000

    /// - Parameter isRaw: whether the path says that samples come as they are.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)``.
    init(_ query: FlatDictionary<Substring, Substring>, isRaw: Bool, speaksSubQ: Bool) throws(ScribeError) {
        func text(_ names: String...) -> String? {
            names.lazy.compactMap { query[$0[...]] }.map(String.init).first { !$0.isEmpty }
        }
        model = text("model")
        if let word = text("encoding", "format", "codec")?.lowercased() {
            guard let known = Encoding(rawValue: word == "pcm" ? "linear16" : word) else {
                throw .invalidRequest(
                    field: "encoding",
                    problem:
                        "must be one of \(Encoding.allCases.map(\.rawValue).joined(separator: ", ")), or be left out "
                        + "for audio/wav")
            }
            encoding = known
        } else {
            isContainer = !isRaw && text("sample_rate") == nil
        }
        options.sampleRate = try Self.integer(text("sample_rate"), "sample_rate", Self.rates) ?? 16_000
        options.channels = try Self.integer(text("channels"), "channels", 1...Self.mostChannels) ?? 1
        options.hearsEachChannel = try Self.boolean(text("multichannel"), "multichannel") ?? false
        options.tellsInterims = try Self.boolean(text("interim_results"), "interim_results") ?? speaksSubQ
        options.tellsSpeech = try Self.boolean(text("vad_events"), "vad_events") ?? false
        let punctuates = try Self.boolean(text("punctuate"), "punctuate") ?? false
        let formats = try Self.boolean(text("smart_format"), "smart_format") ?? false
        options.punctuates = punctuates || formats
        let diarizes = try Self.boolean(text("diarize", "diarization"), "diarize") ?? false
        if text("diarize_model") == "v2" {
            throw .invalidRequest(field: "diarize_model", problem: "v2 is not for streams")
        }
        options.tellsSpeakers = diarizes || text("diarize_model") != nil
        options.language = text("language", "lang")
        if let silence = text("endpointing") {
            switch silence.lowercased() {
            case "false": options.endpointing = nil
            case "true": break
            default:
                let milliseconds = try Self.integer(silence, "endpointing", 0...Self.longestSilence)
                options.endpointing = milliseconds.map { .milliseconds($0) }
            }
        }
        let gap = try Self.integer(text("utterance_end_ms"), "utterance_end_ms", 1...Self.longestSilence)
        options.utteranceEnd = gap.map { .milliseconds($0) }
    }

    private static func integer(
        _ text: String?, _ field: String, _ range: ClosedRange<Int>
    ) throws(ScribeError) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalidRequest(
                field: field, problem: "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func boolean(_ text: String?, _ field: String) throws(ScribeError) -> Bool? {
        switch text?.lowercased() {
        case nil: return nil
        case "true", "1": return true
        case "false", "0": return false
        default: throw .invalidRequest(field: field, problem: "must be true or false")
        }
    }
}
