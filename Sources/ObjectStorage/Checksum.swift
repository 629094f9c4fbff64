import Crypto

/// Checksum algorithms that S3 clients may declare for an upload.
package enum ChecksumAlgorithm: String, Sendable, CaseIterable {
    case crc32, crc32c, crc64nvme, sha1, sha256
}

/// Checksum of bytes that arrive piece by piece.
package struct RunningChecksum: Sendable {
    private enum State: Sendable {
        case crc(CyclicRedundancyCheck)
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
    }

    private var state: State

    package init(_ algorithm: ChecksumAlgorithm) {
        state =
            switch algorithm {
            case .crc32: .crc(.crc32)
            case .crc32c: .crc(.crc32c)
            case .crc64nvme: .crc(.crc64nvme)
            case .sha1: .sha1(Insecure.SHA1())
            case .sha256: .sha256(SHA256())
            }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .crc(var crc):
            crc.update(bytes)
            state = .crc(crc)
        case .sha1(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha1(hash)
        case .sha256(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha256(hash)
        }
    }

    /// Returns the checksum in network byte order, which S3 encodes in base64.
    package func finalize() -> [UInt8] {
        switch state {
        case .crc(let crc): crc.finalize()
        case .sha1(let hash): Array(hash.finalize())
        case .sha256(let hash): Array(hash.finalize())
        }
    }
}

/// Reflected CRC of 32 or 64 bits, computed eight bytes at a time.
struct CyclicRedundancyCheck: Sendable {
    /// Lookup tables: `tables[k][b]` is the effect of byte b on the register k bytes later.
    private let tables: [[UInt64]]
    private let width: Int
    private var register: UInt64

    static let crc32 = CyclicRedundancyCheck(polynomial: 0xEDB8_8320, width: 32)
    static let crc32c = CyclicRedundancyCheck(polynomial: 0x82F6_3B78, width: 32)
    static let crc64nvme = CyclicRedundancyCheck(polynomial: 0x9A6C_9329_AC4B_C9B5, width: 64)

    /// Makes the CRC of no bytes.
    /// - Parameter polynomial: the polynomial with its bits in reverse order.
    private init(polynomial: UInt64, width: Int) {
        var tables = [[UInt64]](repeating: [UInt64](repeating: 0, count: 256), count: 8)
        for byte in 0..<256 {
            var value = UInt64(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
            tables[0][byte] = value
        }
        for byte in 0..<256 {
            for distance in 1..<8 {
                let before = tables[distance - 1][byte]
                tables[distance][byte] = before >> 8 ^ tables[0][Int(before & 0xFF)]
            }
        }
        self.tables = tables
        self.width = width
        register = width == 64 ? .max : UInt64(UInt32.max)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var register = register
        var position = 0
        while position + 8 <= bytes.count {
            let word = register ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            var next: UInt64 = 0
            for byte in 0..<8 { next ^= tables[7 - byte][Int(word >> (8 * UInt64(byte)) & 0xFF)] }
            register = next
            position += 8
        }
        while position < bytes.count {
            register = register >> 8 ^ tables[0][Int((register ^ UInt64(bytes[position])) & 0xFF)]
            position += 1
        }
        self.register = register
    }

    func finalize() -> [UInt8] {
        let value = ~register
        return stride(from: width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }
}
