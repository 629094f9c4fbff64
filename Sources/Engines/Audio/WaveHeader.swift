package import NIOCore

/// Writer of WAV headers for raw samples.
package struct WaveHeader: Hashable, Sendable {
    /// Encoding of the samples, by RIFF's format number and the bits per sample.
    package enum Encoding: Hashable, Sendable {
        case linear(bits: Int)
        case alaw
        case mulaw

        fileprivate var code: UInt16 {
            switch self {
            case .linear: 1
            case .alaw: 6
            case .mulaw: 7
            }
        }

        fileprivate var bits: Int {
            switch self {
            case .linear(let bits): bits
            case .alaw, .mulaw: 8
            }
        }
    }

    private let encoding: Encoding
    private let channels: Int
    private let sampleRate: Int

    /// Creates a header format.
    /// - Parameters:
    ///   - channels: 1 to 8.
    ///   - sampleRate: in Hz, at most 192,000.
    package init(_ encoding: Encoding, channels: Int, sampleRate: Int) {
        self.encoding = encoding
        self.channels = channels
        self.sampleRate = sampleRate
    }

    /// Bytes of the header.
    /// - Parameter size: size of the samples in bytes; nil if unknown.
    package func bytes(before size: Int?) -> ByteBuffer {
        let frame = channels * encoding.bits / 8
        // An unknown size is written as the largest number, as streaming recorders do.
        let known = size.flatMap { UInt32(exactly: $0 + 36) }
        var header = ByteBuffer(string: "RIFF")
        header.writeInteger(known ?? .max, endianness: .little)
        header.writeString("WAVEfmt ")
        header.writeInteger(16, endianness: .little, as: UInt32.self)
        header.writeInteger(encoding.code, endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: channels), endianness: .little)
        header.writeInteger(UInt32(truncatingIfNeeded: sampleRate), endianness: .little)
        header.writeInteger(UInt32(truncatingIfNeeded: sampleRate * frame), endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: frame), endianness: .little)
        header.writeInteger(UInt16(truncatingIfNeeded: encoding.bits), endianness: .little)
        header.writeString("data")
        header.writeInteger(known.map { $0 - 36 } ?? .max, endianness: .little)
        return header
    }
}
