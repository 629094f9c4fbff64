import ScribeDomain

/// Finds in one channel the stretches in which somebody speaks, between the pauses.
struct VoicedStretches {
    /// One of them, or what there is of it so far. Places are samples from the beginning of the stream.
    struct Stretch: Sendable {
        /// Where the first of its samples is.
        let start: Int
        let samples: [Int16]
        /// Where what was settled before it ends.
        let settled: Int
        /// Up to where it settles the stream.
        let end: Int
        /// Whether a pause has ended it.
        let endsSpeech: Bool
    }

    enum Event: Sendable {
        case began(Int)
        case partial(Stretch)
        case whole(Stretch)
        /// Nobody has spoken for as long as was asked for.
        case pause
    }

    private let options: LiveOptions
    private var position = 0
    private var settled = 0
    /// What came since the last cut, or a little of it while nobody speaks.
    private var samples: [Int16] = []
    /// Whether somebody has spoken since the last cut.
    private var isOpen = false
    /// Where the last sound ended; nil before the first.
    private var lastSound: Int?
    /// How many of the samples were told of already.
    private var told = 0
    private var owesPause = false

    init(_ options: LiveOptions) { self.options = options }

    private func count(_ milliseconds: Int) -> Int { milliseconds * options.sampleRate / 1000 }
    private func count(_ duration: Duration) -> Int { count(Int(duration / .milliseconds(1))) }

    /// Before somebody speaks so much is kept, for words begin softly.
    private var lead: Int { count(200) }
    /// A shorter pause is within a sentence, and recognisers need sentences.
    private var pause: Int? { options.endpointing.map { max(count($0), count(300)) } }
    /// A stretch so long is cut where it is quiet, and one so much longer anywhere.
    private var longest: (quiet: Int, loud: Int) { (count(12_000), count(25_000)) }
    /// What is not settled is told anew after so long.
    private var interval: Int { count(1500) }

    /// - Parameter hop: the next one of the channel.
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
            events.append(.whole(cut(endsSpeech: true)))
        } else if samples.count >= (isVoiced ? longest.loud : longest.quiet) {
            events.append(.whole(cut(endsSpeech: false)))
        } else if options.tellsInterims, isVoiced, samples.count - told >= interval {
            told = samples.count
            events.append(.partial(stretch(endsSpeech: false)))
        }
        // Not before what was said is settled.
        if owesPause, !isOpen, let limit = options.utteranceEnd, quiet >= count(limit) {
            owesPause = false
            events.append(.pause)
        }
        return events
    }

    /// Forgets the oldest samples.
    private mutating func keep(_ count: Int) { samples.removeFirst(max(0, samples.count - count)) }

    /// Ends what is being said: there is no more, or somebody wants to know now.
    /// - Parameter rest: what came and is no whole hop.
    mutating func settle(_ rest: [Int16]) -> Stretch {
        position += rest.count
        samples += rest
        return cut(endsSpeech: true)
    }

    private mutating func cut(endsSpeech: Bool) -> Stretch {
        let stretch = stretch(endsSpeech: endsSpeech)
        settled = position
        samples = []
        isOpen = false
        told = 0
        return stretch
    }

    private func stretch(endsSpeech: Bool) -> Stretch {
        Stretch(
            start: position - samples.count, samples: isOpen ? samples : [], settled: settled, end: position,
            endsSpeech: endsSpeech)
    }
}
