package import NIOCore

/// The head of a WAV for samples that come without one.
package struct WaveHeader: Hashable, Sendable {
    /// How the samples are written: the number of RIFF's registry, and the bits of each.
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

    /// - Parameters:
    ///   - channels: 1 to 8.
    ///   - sampleRate: in Hz, 192,000 at most.
    package init(_ encoding: Encoding, channels: Int, sampleRate: Int) {
        self.encoding = encoding
        self.channels = channels
        self.sampleRate = sampleRate
    }

    /// - Parameter size: of the samples, in bytes; nil while nobody knows.
    package func bytes(before size: Int?) -> ByteBuffer {
        let frame = channels * encoding.bits / 8
        // As recorders write that are streaming.
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
