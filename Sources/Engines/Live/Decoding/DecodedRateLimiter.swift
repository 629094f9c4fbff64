import ScribeDomain

/// Throttles a live stream whose decoded samples far exceed its encoded bytes.
///
/// A hundred kilobytes may be hours of silence, and ffmpeg would fill the disk with their samples in seconds. Samples
/// beyond a free amount pass at four times real time.
struct DecodedRateLimiter {
    /// Free bytes of samples for each encoded byte. Opus speech at 16 kbit/s, decoded to 48 kHz, needs 48.
    private static let freeRatio = 200
    /// Free bytes of samples for any stream.
    private static let free = 32 << 20
    /// Pace of the samples beyond the free amount, as a multiple of real time.
    private static let speed = 4.0
    /// Longest stream, in seconds.
    private static let longest = 13 * 3600.0

    /// Size of one second of samples, in bytes.
    private let second: Double
    private var taken = 0

    init(_ options: LiveOptions) { second = Double(2 * options.channels * options.sampleRate) }

    /// Counts the next decoded samples.
    /// - Parameters:
    ///   - count: size of the samples, in bytes.
    ///   - encoded: encoded bytes of the stream so far.
    /// - Returns: delay before the samples may be used.
    /// - Throws: ``EngineFailure`` of origin `idleness` if the stream is too long.
    mutating func take(_ count: Int, of encoded: Int) throws(EngineFailure) -> Duration {
        taken += count
        guard Double(taken) <= Self.longest * second else {
            throw EngineFailure(.transcriptionFailed, "the stream is longer than thirteen hours", origin: .idleness)
        }
        let beyond = min(count, taken - Self.free - encoded * Self.freeRatio)
        return beyond > 0 ? .seconds(Double(beyond) / second / Self.speed) : .zero
    }
}
