import NIOCore

/// Cuts a stream into hops of 20 ms by counting samples, whatever the size of the incoming pieces.
struct HopSplitter {
    /// Samples of one channel in a hop.
    let size: Int
    /// Number of recognised channels: all of them, or one if they are mixed.
    let heardChannels: Int
    private let channels: Int
    private var pending = ByteBuffer()

    init(_ options: LiveOptions) {
        size = Self.size(at: options.sampleRate)
        channels = options.channels
        heardChannels = options.multichannel ? options.channels : 1
    }

    static func size(at rate: Int) -> Int { max(1, rate / 50) }

    mutating func add(_ audio: ByteBuffer) {
        pending.discardReadBytes()
        pending.writeImmutableBuffer(audio)
    }

    /// Takes the next hop as samples per recognised channel; nil until the hop is complete.
    mutating func next() -> [[Int16]]? {
        pending.readSlice(length: size * channels * 2).map(split)
    }

    /// Takes the samples that do not fill a hop. Half a sample stays.
    mutating func takeRest() -> [[Int16]] {
        let frames = pending.readableBytes / (2 * channels)
        return pending.readSlice(length: frames * 2 * channels).map(split) ?? []
    }

    private func split(_ hop: ByteBuffer) -> [[Int16]] {
        hop.withUnsafeReadableBytes { bytes in
            func sample(_ place: Int) -> Int16 {
                Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place * 2, as: Int16.self))
            }
            let frames = bytes.count / (2 * channels)
            return (0..<heardChannels).map { channel in
                (0..<frames).map { frame in
                    guard heardChannels == 1, channels > 1 else { return sample(frame * channels + channel) }
                    let sum = (0..<channels).reduce(0) { $0 + Int(sample(frame * channels + $1)) }
                    return Int16(truncatingIfNeeded: sum / channels)
                }
            }
        }
    }
}

extension [Int16] {
    /// Mean square of the samples.
    var power: Int { reduce(0) { $0 + Int($1) * Int($1) } / Swift.max(1, count) }

    /// Least mean square of sound: a root of a hundredth of full scale (streaming.md 6).
    static let voicedPower = 328 * 328

    /// Whether the samples contain sound.
    var isVoiced: Bool { power >= Self.voicedPower }
}
