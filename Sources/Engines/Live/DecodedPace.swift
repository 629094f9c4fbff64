import ScribeDomain

/// How fast the samples of an encoded stream are taken. A few bytes may be hours of silence, which would fill the disk as
/// fast as ffmpeg decodes: what is much more than came is taken as somebody could listen to it.
struct DecodedPace {
    /// So many bytes for each that came, and so many for nothing, are taken as fast as they come. Speech in Opus, at
    /// 16 kbit/s and decoded to 48 kHz, is 48 for one.
    private static let freeRatio = 200
    private static let free = 32 << 20
    /// Times real time, beyond that.
    private static let speed = 4.0
    /// Of one stream, in seconds.
    private static let longest = 13 * 3600.0

    /// In bytes.
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
