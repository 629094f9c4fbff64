import Basics
package import NIOCore

/// Format of raw samples. Samples of several bytes are little-endian.
package enum SampleFormat: CaseIterable, Hashable, Sendable {
    case unsigned8, signed16, signed24, signed32, float32, float64, alaw, mulaw

    /// The format that a WAV header names; nil for compressed audio, such as ADPCM.
    package init?(_ format: WaveHeaderParser.Format) {
        let meant = Self.allCases.first { Int($0.code) == format.code && 8 * $0.size == format.bits }
        guard let meant else { return nil }
        self = meant
    }

    /// RIFF's format number.
    var code: UInt16 {
        switch self {
        case .unsigned8, .signed16, .signed24, .signed32: 1
        case .float32, .float64: 3
        case .alaw: 6
        case .mulaw: 7
        }
    }

    /// Size of a sample in bytes.
    package var size: Int {
        switch self {
        case .unsigned8, .alaw, .mulaw: 1
        case .signed16: 2
        case .signed24: 3
        case .signed32, .float32: 4
        case .float64: 8
        }
    }

    /// Converts the whole samples in a buffer to 16 bits, and leaves the rest of a sample.
    package func takeSamples(from bytes: inout ByteBuffer) -> ByteBuffer {
        if self == .signed16 {
            defer { bytes = ByteBuffer() }
            return bytes
        }
        let count = bytes.readableBytes / size
        let samples = bytes.withUnsafeReadableBytes { converted($0, count: count) }
        bytes.moveReaderIndex(forwardBy: count * size)
        var buffer = ByteBuffer()
        buffer.reserveCapacity(2 * count)
        for sample in samples { buffer.writeInteger(sample, endianness: .little) }
        return buffer
    }

    /// Samples as 16-bit numbers.
    func converted(_ bytes: UnsafeRawBufferPointer, count: Int) -> [Int16] {
        func load<Value>(_ index: Int, _ type: Value.Type) -> Value {
            bytes.loadUnaligned(fromByteOffset: index * MemoryLayout<Value>.size, as: type)
        }
        func whole(_ value: Double) -> Int16 { Int16(saturating: (value * 32_768).rounded()) }
        return switch self {
        case .unsigned8: (0..<count).map { (Int16(bytes[$0]) - 128) << 8 }
        case .signed16: (0..<count).map { Int16(littleEndian: load($0, Int16.self)) }
        case .signed24:
            (0..<count).map { Int16(bitPattern: UInt16(bytes[3 * $0 + 2]) << 8 | UInt16(bytes[3 * $0 + 1])) }
        case .signed32: (0..<count).map { Int16(truncatingIfNeeded: Int32(littleEndian: load($0, Int32.self)) >> 16) }
        case .float32:
            (0..<count).map { whole(Double(Float(bitPattern: UInt32(littleEndian: load($0, UInt32.self))))) }
        case .float64: (0..<count).map { whole(Double(bitPattern: UInt64(littleEndian: load($0, UInt64.self)))) }
        case .alaw: (0..<count).map { Self.linear(alaw: bytes[$0]) }
        case .mulaw: (0..<count).map { Self.linear(mulaw: bytes[$0]) }
        }
    }

    private static func linear(mulaw byte: UInt8) -> Int16 {
        let value = ~byte
        let magnitude = ((Int(value & 0x0F) << 3) + 0x84) << Int((value & 0x70) >> 4) - 0x84
        return Int16(value & 0x80 != 0 ? -magnitude : magnitude)
    }

    private static func linear(alaw byte: UInt8) -> Int16 {
        let value = byte ^ 0x55
        let exponent = Int((value & 0x70) >> 4)
        var magnitude = Int(value & 0x0F) << 4 + 8
        if exponent > 0 { magnitude = (magnitude + 0x100) << (exponent - 1) }
        return Int16(value & 0x80 != 0 ? magnitude : -magnitude)
    }
}
