import ScribeDomain

/// Speech detector: finds the stretches of speech between the pauses of one channel.
struct SpeechDetector {
    /// Stretch of speech, complete or so far. Positions are samples from the beginning of the stream.
    struct SpeechSpan: Sendable {
        /// Position of the first sample.
        let start: Int
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
    /// Number of samples already emitted in a partial stretch.
    private var told = 0
    private var owesPause = false

    init(_ options: LiveOptions) { self.options = options }

    private func count(_ milliseconds: Int) -> Int { milliseconds * options.sampleRate / 1000 }
    private func count(_ duration: Duration) -> Int { count(Int(saturating: duration / .milliseconds(1))) }

    /// Samples kept before speech, 200 ms, because words begin softly.
    private var lead: Int { count(200) }
    /// Silence that ends a stretch, at least 300 ms: recognisers need whole sentences,
    /// and shorter pauses lie within them.
    private var pause: Int? { options.endpointing.map { max(count($0), count(300)) } }
    /// Length at which a stretch is cut in a quiet moment, and length at which it is cut anywhere.
    private var longest: (quiet: Int, loud: Int) { (count(12_000), count(25_000)) }
    /// Interval between partial stretches.
    private var interval: Int { count(1500) }

    /// Processes one hop.
    /// - Parameter hop: next samples of the channel.
    mutating func hear(_ hop: [Int16]) -> [Event] {
        var events: [Event] = []
        samples += hop
        position += hop.count
        let isVoiced = hop.isVoiced
        if isVoiced {
            if lastSound.map({ position - hop.count - $0 >= count(300) }) ?? true {
                events.append(.began(position - hop.count))
            }
            lastSound = position
            if !isOpen { keep(lead + hop.count) }
            isOpen = true
            owesPause = true
        }
        let quiet = position - (lastSound ?? 0)
        if !isOpen {
            if samples.count > 2 * lead { keep(lead) }
        } else if let pause, quiet >= pause {
            events.append(.whole(cut(speechFinal: true)))
        } else if samples.count >= (isVoiced ? longest.loud : longest.quiet) {
            events.append(.whole(cut(speechFinal: false)))
        } else if options.interimResults, isVoiced, samples.count - told >= interval {
            told = samples.count
            events.append(.partial(stretch(speechFinal: false)))
        }
        // The pause is emitted only after the speech before it is settled.
        if owesPause, !isOpen, let limit = options.utteranceEnd, quiet >= count(limit) {
            owesPause = false
            events.append(.pause)
        }
        return events
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

    private mutating func cut(speechFinal: Bool) -> SpeechSpan {
        let stretch = stretch(speechFinal: speechFinal)
        settled = position
        samples = []
        isOpen = false
        told = 0
        return stretch
    }

    private func stretch(speechFinal: Bool) -> SpeechSpan {
        SpeechSpan(
            start: position - samples.count, samples: isOpen ? samples : [], settled: settled, end: position,
            speechFinal: speechFinal)
    }
}
