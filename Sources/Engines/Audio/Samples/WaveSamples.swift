import Foundation

/// Samples of a WAV file as 16-bit numbers, channels interleaved.
struct WaveSamples {
    let rate: Int
    let channels: Int
    let count: Int
    private let format: SampleFormat
    private let bytes: AudioBytes
    private let start: Int

    init?(_ bytes: AudioBytes) {
        let header = WaveHeaderParser(bytes)
        guard let format = header?.format, let samples = SampleFormat(format), (1...8).contains(format.channels),
            (4000...192_000).contains(format.sampleRate),
            let start = header?.start, let size = header?.size(in: bytes)
        else { return nil }
        (rate, channels, count) = (format.sampleRate, format.channels, size / samples.size)
        (self.format, self.bytes, self.start) = (samples, bytes, start)
    }

    /// Measures the level of each frame in dBFS, and counts the clipped samples.
    /// - Parameter range: range of samples; an incomplete frame at its end is left out.
    func frames(of length: Int, in range: Range<Int>) -> (levels: [Double], clipped: Int) {
        bytes.withData { data in
            data.withUnsafeBytes { memory in
                var levels: [Double] = []
                levels.reserveCapacity(range.count / length)
                var clipped = 0
                for first in stride(from: range.lowerBound, to: range.upperBound - length + 1, by: length) {
                    let place = start + first * format.size
                    let frame = UnsafeRawBufferPointer(rebasing: memory[place..<place + length * format.size])
                    let sum =
                        format == .signed16
                        ? Self.sum(of: frame)
                        : format.converted(frame, count: length).withUnsafeBytes(Self.sum)
                    clipped += sum.clipped
                    let mean = Double(sum.energy) / Double(length) / (32_768 * 32_768)
                    levels.append(10 * log10(max(mean, 1e-12)))
                }
                return (levels, clipped)
            }
        }
    }

    /// Sums the squares of the samples and counts the clipped ones, 32,700 and more in magnitude.
    ///
    /// The function runs on every upload. Its first loops neither trap nor branch, so
    /// that the compiler vectorises them.
    ///
    /// - Parameter samples: at most 2^16 samples, so that the halves of their squares add up in 32 bits.
    private static func sum(of samples: UnsafeRawBufferPointer) -> (energy: UInt64, clipped: Int) {
        guard let start = samples.baseAddress else { return (0, 0) }
        let count = samples.count / 2
        func sample(_ index: Int) -> Int16 {
            Int16(littleEndian: start.loadUnaligned(fromByteOffset: index &* 2, as: Int16.self))
        }
        var (lowHalves, highHalves): (UInt32, UInt32) = (0, 0)
        var index = 0
        while index < count {
            let square = UInt32(bitPattern: Int32(sample(index)) &* Int32(sample(index)))
            lowHalves &+= square & 0xFFFF
            highHalves &+= square >> 16
            index &+= 1
        }
        var (lowest, highest): (Int16, Int16) = (0, 0)
        index = 0
        while index < count {
            lowest = min(lowest, sample(index))
            highest = max(highest, sample(index))
            index &+= 1
        }
        let clipped = -32_700 < lowest && highest < 32_700 ? 0 : (0..<count).count { sample($0).magnitude >= 32_700 }
        return (UInt64(highHalves) << 16 + UInt64(lowHalves), clipped)
    }
}
