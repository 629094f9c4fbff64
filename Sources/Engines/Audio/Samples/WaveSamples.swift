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
        bytes.withBytes { memory in
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

    /// Sums the squares of the samples and counts the clipped ones, 32,700 and more in magnitude.
    ///
    /// The function runs on every upload, eight samples at a time.
    ///
    /// - Parameter samples: at most 2^16 samples, so that the halves of their squares add up in 32 bits.
    private static func sum(of samples: UnsafeRawBufferPointer) -> (energy: UInt64, clipped: Int) {
        guard let start = samples.baseAddress else { return (0, 0) }
        var (lowHalves, highHalves) = (SIMD4<UInt32>.zero, SIMD4<UInt32>.zero)
        var (lowest, highest) = (SIMD8<Int16>.zero, SIMD8<Int16>.zero)
        @inline(__always) func add(_ vector: SIMD8<Int16>) {
            let even = SIMD4<Int32>(truncatingIfNeeded: vector.evenHalf)
            let odd = SIMD4<Int32>(truncatingIfNeeded: vector.oddHalf)
            // One instruction multiplies and adds: two squares are at most 2^31.
            let squares = SIMD4<UInt32>(truncatingIfNeeded: even &* even &+ odd &* odd)
            lowHalves &+= squares & 0xFFFF
            highHalves &+= squares &>> 16
            lowest = pointwiseMin(lowest, vector)
            highest = pointwiseMax(highest, vector)
        }
        let whole = samples.count & ~15
        for offset in stride(from: 0, to: whole, by: 16) {
            add(start.loadUnaligned(fromByteOffset: offset, as: SIMD8<Int16>.self))
        }
        func sample(at offset: Int) -> Int16 { start.loadUnaligned(fromByteOffset: offset, as: Int16.self) }
        var rest = SIMD8<Int16>.zero
        for offset in stride(from: whole, to: samples.count - 1, by: 2) {
            rest[(offset - whole) / 2] = sample(at: offset)
        }
        add(rest)
        let isClear = -32_700 < lowest.min() && highest.max() < 32_700
        let clipped =
            isClear ? 0 : stride(from: 0, to: samples.count - 1, by: 2).count { sample(at: $0).magnitude >= 32_700 }
        return (UInt64(highHalves.wrappedSum()) << 16 + UInt64(lowHalves.wrappedSum()), clipped)
    }
}
