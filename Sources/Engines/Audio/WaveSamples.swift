import Foundation

/// 16-bit samples of a WAV file, channels interleaved.
struct WaveSamples {
    let rate: Int
    let channels: Int
    let count: Int
    private let bytes: AudioBytes
    private let start: Int

    init?(_ bytes: AudioBytes) {
        guard bytes.text(at: 0, count: 4) == "RIFF", bytes.text(at: 8, count: 4) == "WAVE" else { return nil }
        var position = 12
        var format: (channels: Int, rate: Int)?
        while let name = bytes.text(at: position, count: 4), let size = bytes.uint32LittleEndian(at: position + 4) {
            if name == "fmt ", let coding = bytes.uint16LittleEndian(at: position + 8),
                let channels = bytes.uint16LittleEndian(at: position + 10),
                let rate = bytes.uint32LittleEndian(at: position + 12),
                let bits = bytes.uint16LittleEndian(at: position + 22)
            {
                // Plain PCM, or the extensible format, which declares PCM in a later field.
                guard coding == 1 || coding == 0xFFFE, bits == 16, (1...8).contains(channels),
                    (4000...192_000).contains(rate)
                else { return nil }
                format = (Int(channels), Int(rate))
            } else if name == "data" {
                guard let format else { return nil }
                let present = bytes.count - position - 8
                let declared = size == 0 || size == .max ? present : Int(size)
                (channels, rate) = format
                count = max(0, min(declared, present)) / 2
                start = position + 8
                self.bytes = bytes
                return
            }
            position += 8 + Int(size) + Int(size & 1)
        }
        return nil
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
                    let frame = UnsafeRawBufferPointer(
                        rebasing: memory[(start + first * 2)..<(start + (first + length) * 2)])
                    let sum = Self.sum(of: frame)
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
