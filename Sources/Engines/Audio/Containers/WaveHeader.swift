package import NIOCore

/// Writer of WAV headers for raw samples.
package struct WaveHeader: Hashable, Sendable {
    private let format: SampleFormat
    private let channels: Int
    private let sampleRate: Int

    /// Creates a header format.
    /// - Parameters:
    ///   - channels: 1 to 8.
    ///   - sampleRate: in Hz, at most 192,000.
    package init(_ format: SampleFormat, channels: Int, sampleRate: Int) {
        self.format = format
        self.channels = channels
        self.sampleRate = sampleRate
    }

    /// Bytes of the header.
    /// - Parameter size: size of the samples in bytes; nil if unknown.
    package func bytes(before size: Int?) -> ByteBuffer {
        let frame = channels * format.size
        // An unknown size is written as the largest number, as streaming recorders do.
        let known = size.flatMap { UInt32(exactly: $0 + 36) }
        var header = ByteBuffer(string: "RIFF")
        header.writeInteger(known ?? .max, endianness: .little)
        header.writeString("WAVEfmt ")
        header.writeInteger(16, endianness: .little, as: UInt32.self)
        header.writeInteger(format.code, endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: channels), endianness: .little)
        header.writeInteger(UInt32(truncatingIfNeeded: sampleRate), endianness: .little)
        header.writeInteger(UInt32(truncatingIfNeeded: sampleRate * frame), endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: frame), endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: 8 * format.size), endianness: .little)
        header.writeString("data")
        header.writeInteger(known.map { $0 - 36 } ?? .max, endianness: .little)
        return header
    }
}
