import ScribeDomain

/// Slows down an encoded stream that decodes to far more samples than bytes were sent. A hundred kilobytes may be hours of
/// silence, and ffmpeg would fill the disk with them in seconds. Samples beyond a free amount are taken at four times real
/// time.
struct DecodedPace {
    /// Free bytes of samples for each encoded byte. Opus speech at 16 kbit/s, decoded to 48 kHz, needs 48.
    private static let freeRatio = 200
    /// Free bytes of samples for any stream.
    private static let free = 32 << 20
    /// The pace of samples beyond the free ones, in times real time.
    private static let speed = 4.0
    /// The longest stream, in seconds.
    private static let longest = 13 * 3600.0

    /// A second of samples, in bytes.
    private let second: Double
    private var taken = 0

    init(_ options: LiveOptions) { second = Double(2 * options.channels * options.sampleRate) }

    /// Takes the next samples.
    /// - Parameters:
    ///   - count: how many, in bytes.
    ///   - encoded: what has come of the stream so far, in bytes.
    /// - Returns: how long is waited before they are used.
    /// - Throws: ``EngineFailure`` as for an idle stream, when the stream is too long.
    mutating func take(_ count: Int, of encoded: Int) throws(EngineFailure) -> Duration {
        taken += count
        guard Double(taken) <= Self.longest * second else {
            throw EngineFailure(.transcriptionFailed, "the stream is longer than thirteen hours", origin: .idleness)
        }
        let beyond = min(count, taken - Self.free - encoded * Self.freeRatio)
        return beyond > 0 ? .seconds(Double(beyond) / second / Self.speed) : .zero
    }
}
