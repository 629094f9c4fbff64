import Engines
import NIOCore

/// The loudness of 16-bit samples.
extension ByteBuffer {
    /// The amplitude below which a sample is silent: 1% of full scale (streaming.md 6).
    private static let quiet = 328

    /// Whether the first `count` bytes are silent.
    func isQuiet(upTo count: Int) -> Bool {
        withUnsafeReadableBytes { bytes in
            stride(from: 0, to: count, by: 2).allSatisfy { place in
                abs(Int(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self)))) < Self.quiet
            }
        }
    }

    /// The end of the quietest 20 ms in the last third of `frames` frames, as a frame index. It measures the first
    /// channel.
    func quietestEnd(in frames: Int, _ options: LiveOptions) -> Int {
        let hop = max(1, options.sampleRate / 50)
        let frameSize = 2 * options.channels
        return withUnsafeReadableBytes { bytes in
            var best = (loudness: Int.max, end: frames)
            var end = frames
            while end - hop > frames * 2 / 3 {
                let loudness = ((end - hop)..<end).reduce(0) { sum, frame in
                    let place = frame * frameSize
                    return sum
                        + abs(Int(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self))))
                }
                if loudness < best.loudness { best = (loudness, end) }
                end -= hop
            }
            return best.end
        }
    }
}
