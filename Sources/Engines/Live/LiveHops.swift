import NIOCore

/// Cuts a stream into fiftieths of a second, by counting its samples: how the bytes come cut changes nothing.
struct LiveHops {
    /// Samples of a channel in a hop.
    let size: Int
    /// How many channels are heard: all that there are, or the one that they are mixed to.
    let heardChannels: Int
    private let channels: Int
    private var pending = ByteBuffer()

    init(_ options: LiveOptions) {
        size = Self.size(at: options.sampleRate)
        channels = options.channels
        heardChannels = options.hearsEachChannel ? options.channels : 1
    }

    static func size(at rate: Int) -> Int { max(1, rate / 50) }

    mutating func add(_ audio: ByteBuffer) {
        pending.discardReadBytes()
        pending.writeImmutableBuffer(audio)
    }

    /// The samples of the next hop, for each channel that is heard; nil when not all of it has come.
    mutating func next() -> [[Int16]]? {
        pending.readSlice(length: size * channels * 2).map(split)
    }

    /// What has come and is no whole hop. Half a sample stays.
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
    /// Whether there is more to be heard in them than a hundredth of full scale (streaming.md 6).
    var isVoiced: Bool { reduce(0) { $0 + Int($1) * Int($1) } / Swift.max(1, count) >= 328 * 328 }
}
