import Basics

/// Speech detector: finds the stretches of speech between the pauses of one channel.
struct SpeechDetector {
    /// Stretch of speech, complete or so far. Positions are samples from the beginning of the stream.
    struct SpeechSpan: Sendable {
        /// Position of the first sample.
        let start: Int
        /// Empty in silence.
        let samples: [Int16]
        /// End of the part that was settled before.
        let settled: Int
        /// End of the part that this stretch settles.
        let end: Int
        /// Whether a pause ended the stretch.
        let speechFinal: Bool
    }

    enum Event: Sendable {
        case began(Int)
        case partial(SpeechSpan)
        case whole(SpeechSpan)
        /// Silence has lasted for the requested `utteranceEnd`.
        case pause
    }

    private let options: LiveOptions
    private var position = 0
    private var settled = 0
    /// Samples since the last cut; only the latest ones before speech begins.
    private var samples: [Int16] = []
    /// Whether speech has begun since the last cut.
    private var isOpen = false
    /// End of the last sound; nil before the first.
    private var lastSound: Int?
    /// End of the last partial stretch since the last cut; nil without one.
    private var emittedEnd: Int?
    private var pauseIsDue = false
    /// Whether a stretch was settled before its utterance ended.
    private var owesSpeechFinal = false
    /// Quietest hop of a stretch that must be cut soon, and its end.
    private var quietest: (power: Int, end: Int)?

    init(_ options: LiveOptions) { self.options = options }

    /// Whether the current stretch needs a final result.
    var hasUnsettledResult: Bool { isOpen || emittedEnd != nil }

    private func count(_ milliseconds: Int) -> Int { milliseconds * options.sampleRate / 1000 }
    private func count(_ duration: Duration) -> Int { count(Int(saturating: duration / .milliseconds(1))) }

    /// Samples kept before speech, 200 ms, because words begin softly.
    private var lead: Int { count(200) }
    /// Silence that ends a stretch, at least 300 ms: recognisers need whole sentences,
    /// and shorter pauses lie within them.
    private var pause: Int? { options.endpointing.map { max(count($0), count(300)) } }
    /// Length from which a stretch is cut in a quiet moment, and length at which it is cut in its quietest.
    private var longest: (quiet: Int, loud: Int) {
        options.finalizesSteadily && pause == nil ? (count(3000), count(5000)) : (count(12_000), count(25_000))
    }
    /// Interval between partial stretches of speech, and of silence.
    private var interval: Int { count(isOpen ? 1500 : 1000) }
    /// Length of a stretch of silence.
    private var longestSilence: Int { count(4000) }

    /// Processes one hop.
    /// - Parameter hop: next samples of the channel.
    mutating func process(_ hop: [Int16]) -> [Event] {
        var events: [Event] = []
        samples += hop
        position += hop.count
        let power = hop.power
        let isVoiced = power >= [Int16].voicedPower
        if isVoiced {
            if lastSound.map({ position - hop.count - $0 >= count(300) }) ?? true {
                events.append(.began(position - hop.count))
            }
            lastSound = position
            if !isOpen { keep(lead + hop.count) }
            isOpen = true
            pauseIsDue = true
            owesSpeechFinal = false
        }
        let quiet = position - (lastSound ?? 0)
        let isPause = pause.map { quiet >= $0 } ?? false
        if !isOpen {
            if samples.count > 2 * lead { keep(lead) }
            if options.finalizesSteadily { settleSilence(isPause, &events) }
        } else if isPause {
            events.append(.whole(cut(speechFinal: true)))
        } else if isTooLong(with: power) {
            events.append(.whole(cut(at: quietest?.end, speechFinal: false)))
        } else if options.interimResults, isVoiced, position - (emittedEnd ?? position - samples.count) >= interval {
            emittedEnd = position
            events.append(.partial(stretch(to: position, speechFinal: false)))
        }
        // The pause is emitted only after the speech before it is settled.
        if pauseIsDue, let limit = options.utteranceEnd, quiet >= count(limit), !isOpen || options.finalizesSteadily {
            if isOpen {
                owesSpeechFinal = pause != nil
                events.append(.whole(cut(speechFinal: false)))
            }
            pauseIsDue = false
            events.append(.pause)
        }
        return events
    }

    /// Whether the stretch must be cut after a hop of this power.
    private mutating func isTooLong(with power: Int) -> Bool {
        guard samples.count >= longest.quiet else { return false }
        if power <= quietest?.power ?? .max { quietest = (power, position) }
        return power < [Int16].voicedPower || samples.count >= longest.loud
    }

    private mutating func settleSilence(_ isPause: Bool, _ events: inout [Event]) {
        if position - settled >= longestSilence || owesSpeechFinal && isPause {
            owesSpeechFinal = false
            events.append(.whole(stretch(to: position, speechFinal: isPause)))
            (settled, emittedEnd) = (position, nil)
        } else if options.interimResults, position - (emittedEnd ?? settled) >= interval {
            emittedEnd = position
            events.append(.partial(stretch(to: position, speechFinal: false)))
        }
    }

    /// Keeps only the newest `count` samples.
    private mutating func keep(_ count: Int) { samples.removeFirst(max(0, samples.count - count)) }

    /// Ends the current stretch, at the end of the stream or on a finalize request.
    /// - Parameter rest: samples that do not fill a hop.
    mutating func settle(_ rest: [Int16]) -> SpeechSpan {
        position += rest.count
        samples += rest
        return cut(speechFinal: true)
    }

    /// - Parameter end: end of the stretch; later samples stay. Nil for the end of the audio.
    private mutating func cut(at end: Int? = nil, speechFinal: Bool) -> SpeechSpan {
        let end = end ?? position
        let stretch = stretch(to: end, speechFinal: speechFinal)
        settled = end
        samples = Array(samples.suffix(position - end))
        isOpen = !samples.isEmpty
        (emittedEnd, quietest) = (nil, nil)
        return stretch
    }

    private func stretch(to end: Int, speechFinal: Bool) -> SpeechSpan {
        SpeechSpan(
            start: position - samples.count, samples: isOpen ? Array(samples.dropLast(position - end)) : [],
            settled: settled,
            end: end, speechFinal: speechFinal)
    }
}
