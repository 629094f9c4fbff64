import Basics
import NIOCore

/// Fake live engine: repeats a fixed script, one word per 240 ms of sound (streaming.md 6).
///
/// The output depends only on the options, the bytes, and the positions of finalize requests. Neither the size of the
/// pieces nor their pace changes the output.
package struct FakeLiveEngine: LiveEngine {
    package let name = "fake"

    package init() {}

    package func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws {
        var session: any LiveSession = FakeLiveSession(options, emit)
        try await body(&session)
    }
}

private struct FakeLiveSession: LiveSession {
    private let emit: @Sendable (LiveEvent) async throws -> Void
    private var hops: HopSplitter
    private var channels: [FakeLiveChannel]

    init(_ options: LiveOptions, _ emit: @escaping @Sendable (LiveEvent) async throws -> Void) {
        self.emit = emit
        hops = HopSplitter(options)
        channels = (0..<hops.heardChannels).map { FakeLiveChannel($0, options) }
    }

    mutating func feed(_ audio: ByteBuffer) async throws {
        hops.add(audio)
        while let hop = hops.next() {
            for index in channels.indices {
                for event in channels[index].process(isVoiced: hop[index].isVoiced) { try await emit(event) }
            }
        }
    }

    /// Ignored: the script is fixed.
    mutating func expect(_ vocabulary: [String]) {}

    mutating func finalize() async throws {
        let rest = hops.takeRest().first?.count ?? 0
        for index in channels.indices {
            try await emit(.result(channels[index].settle(after: rest, answersFinalize: true)))
        }
    }

    mutating func close() async throws {
        let rest = hops.takeRest().first?.count ?? 0
        for index in channels.indices where channels[index].hasUnsettledResult {
            try await emit(.result(channels[index].settle(after: rest, answersFinalize: false)))
        }
    }
}

/// State of one channel, in samples.
private struct FakeLiveChannel {
    private struct Word {
        let number: Int
        let start: Int
        let end: Int
    }

    private let number: Int
    private let options: LiveOptions
    private let hop: Int
    private var position = 0
    private var segment = 0
    private var words: [Word] = []
    private var voiced = 0
    private var spoken = 0
    /// End of the last hop with sound.
    private var lastSound: Int?
    private var lastWordEnd: Int?
    private var hasToldEnd = true
    /// Whether words became final before their utterance ended.
    private var owesSpeechFinal = false
    /// Whether an interim result of the segment was emitted.
    private var hasInterim = false

    init(_ number: Int, _ options: LiveOptions) {
        self.number = number
        self.options = options
        hop = HopSplitter.size(at: options.sampleRate)
    }

    private var hasWords: Bool { !words.isEmpty }
    /// Whether the segment needs a final result.
    var hasUnsettledResult: Bool { hasWords || hasInterim }

    private func samples(_ duration: Duration) -> Int {
        samples(milliseconds: Int(saturating: duration / .milliseconds(1)))
    }
    private func samples(milliseconds: Int) -> Int { milliseconds * options.sampleRate / 1000 }

    /// Processes one hop of samples.
    mutating func process(isVoiced: Bool) -> [LiveEvent] {
        var events: [LiveEvent] = []
        let start = position
        position += hop
        if isVoiced {
            // A shorter pause does not end the speech.
            let isBegin = lastSound.map { start - $0 >= samples(milliseconds: 300) } ?? true
            if isBegin, options.vadEvents {
                events.append(.speechStarted(channel: number, at: seconds(start)))
            }
            lastSound = position
            owesSpeechFinal = false
            voiced += hop
            while voiced >= samples(milliseconds: (spoken + 1) * 240) { speak() }
        }
        let isSettled = settleBySilence(&events) || settleByLength(&events)
        if let limit = options.utteranceEnd, let end = lastWordEnd, !hasToldEnd, position - end >= samples(limit) {
            hasToldEnd = true
            if options.finalizesSteadily, hasWords {
                owesSpeechFinal = options.endpointing != nil
                events.append(.result(settle(speechFinal: false)))
            }
            events.append(.utteranceEnd(channel: number, lastWordEnd: seconds(end)))
        }
        if options.interimResults, !isSettled, needsInterim(since: start) {
            hasInterim = true
            events.append(.result(result(isFinal: false, speechFinal: false)))
        }
        return events
    }

    /// Whether an interim result is due: of words every half second, of silence every second of its segment.
    private func needsInterim(since start: Int) -> Bool {
        let (half, second) = (max(1, samples(milliseconds: 500)), max(1, samples(milliseconds: 1000)))
        if hasWords { return start / half != position / half }
        return options.finalizesSteadily && (start - segment) / second != (position - segment) / second
    }

    private mutating func speak() {
        let length = samples(milliseconds: 240)
        words.append(Word(number: spoken, start: max(segment, position - length), end: position))
        spoken += 1
        lastWordEnd = position
        hasToldEnd = false
    }

    /// Whether silence has ended the utterance.
    private var isPause: Bool {
        options.endpointing.map { position - (lastSound ?? 0) >= max(samples($0), hop) } ?? false
    }

    private mutating func settleBySilence(_ events: inout [LiveEvent]) -> Bool {
        guard hasWords || owesSpeechFinal, isPause else { return false }
        owesSpeechFinal = false
        events.append(.result(settle(speechFinal: true)))
        return true
    }

    private mutating func settleByLength(_ events: inout [LiveEvent]) -> Bool {
        guard hasWords || options.finalizesSteadily,
            position - segment >= samples(milliseconds: hasWords ? 5000 : 4000)
        else { return false }
        events.append(.result(settle(speechFinal: isPause)))
        return true
    }

    /// Ends the current segment with the rest of the audio.
    /// - Parameter rest: samples that do not fill a hop.
    mutating func settle(after rest: Int, answersFinalize: Bool) -> LiveResult {
        position += rest
        return settle(speechFinal: true, answersFinalize: answersFinalize)
    }

    private mutating func settle(speechFinal: Bool, answersFinalize: Bool = false) -> LiveResult {
        let result = result(isFinal: true, speechFinal: speechFinal, answersFinalize: answersFinalize)
        segment = position
        words = []
        hasInterim = false
        return result
    }

    private func result(isFinal: Bool, speechFinal: Bool, answersFinalize: Bool = false) -> LiveResult {
        LiveResult(
            channel: number, start: seconds(segment), duration: seconds(position - segment),
            words: words.map(word), isFinal: isFinal, speechFinal: speechFinal, fromFinalize: answersFinalize)
    }

    private func word(_ word: Word) -> LiveWord {
        let text = Self.script[word.number % Self.script.count]
        let place = word.number % 8
        var punctuated: String?
        if options.punctuate {
            punctuated = (place == 0 ? text.prefix(1).uppercased() + text.dropFirst() : text) + (place == 7 ? "." : "")
        }
        return LiveWord(
            text: text, punctuated: punctuated, start: seconds(word.start), end: seconds(word.end),
            confidence: Double(90 + word.number % 10) / 100, speaker: options.diarize ? word.number / 8 % 2 : nil,
            language: "en")
    }

    /// Converts samples to seconds, rounded to milliseconds.
    private func seconds(_ samples: Int) -> Double {
        Double((samples * 1000 + options.sampleRate / 2) / options.sampleRate) / 1000
    }

    private static let script = """
        good morning what brings you here today doctor i have had a fever for three days and my throat is sore have you \
        taken anything for it only paracetamol twice a day any cough or trouble breathing just a dry cough at night drink \
        plenty of water and rest and come back after five days
        """.split(separator: " ").map(String.init)
}
