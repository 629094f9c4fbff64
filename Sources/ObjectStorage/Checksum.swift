import Crypto
import CyclicChecksum
import Foundation

/// Checksum algorithms that S3 clients may declare for an upload.
package enum ChecksumAlgorithm: String, Hashable, Sendable, CaseIterable {
    case crc32, crc32c, crc64nvme, md5, sha1, sha256, sha512

    /// Size of a checksum in bytes.
    package var size: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .crc64nvme: 8
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// Whether the checksum of joined bytes follows from those of their parts.
    package var isCyclic: Bool {
        switch self {
        case .crc32, .crc32c, .crc64nvme: true
        case .md5, .sha1, .sha256, .sha512: false
        }
    }

    /// Computes the checksum of bytes, in network byte order.
    package func checksum(of bytes: [UInt8]) -> [UInt8] {
        var running = RunningChecksum(self)
        bytes.withUnsafeBytes { running.update($0) }
        return running.finalize()
    }
}

/// Checksum of a stored object, as S3 gives it back.
package struct ObjectChecksum: Hashable, Sendable {
    package let algorithm: ChecksumAlgorithm
    /// The checksum in base64; of a multipart upload whose type is composite, that of its parts' checksums, followed by
    /// `-` and their number.
    package let text: String

    package init(_ algorithm: ChecksumAlgorithm, text: String) {
        self.algorithm = algorithm
        self.text = text
    }

    /// - Parameter bytes: The checksum of the whole object, in network byte order.
    package init(_ algorithm: ChecksumAlgorithm, _ bytes: [UInt8]) {
        self.init(algorithm, text: Data(bytes).base64EncodedString())
    }

    /// - Parameter parts: The checksums of the parts, in network byte order.
    package init(_ algorithm: ChecksumAlgorithm, composing parts: [[UInt8]]) {
        let whole = algorithm.checksum(of: parts.flatMap(\.self))
        self.init(algorithm, text: "\(Data(whole).base64EncodedString())-\(parts.count)")
    }

    /// Whether the text was composed of the checksums of parts.
    package var isComposite: Bool { text.utf8.contains(UInt8(ascii: "-")) }
}

/// Checksum of bytes that arrive piece by piece.
package struct RunningChecksum: Sendable {
    private enum State: Sendable {
        case crc(CyclicRedundancyCheck)
        case hash(any HashFunction & Sendable)
    }

    private var state: State

    package init(_ algorithm: ChecksumAlgorithm) {
        state =
            switch algorithm {
            case .crc32: .crc(.crc32)
            case .crc32c: .crc(.crc32c)
            case .crc64nvme: .crc(.crc64nvme)
            case .md5: .hash(Insecure.MD5())
            case .sha1: .hash(Insecure.SHA1())
            case .sha256: .hash(SHA256())
            case .sha512: .hash(SHA512())
            }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .crc(var crc):
            crc.update(bytes)
            state = .crc(crc)
        case .hash(var hash):
            hash.update(bufferPointer: bytes)
            state = .hash(hash)
        }
    }

    /// Returns the checksum in network byte order, which S3 encodes in base64.
    package func finalize() -> [UInt8] {
        switch state {
        case .crc(let crc): crc.finalize()
        case .hash(let hash): Array(hash.finalize())
        }
    }
}

/// Reflected CRC of 32 or 64 bits, computed eight bytes at a time. CRC64NVME, which every upload gets, takes 64 at a
/// time where the processor can.
struct CyclicRedundancyCheck: Sendable {
    /// Lookup tables, one after another: entry `256 * k + b` is the effect of byte b on the register k bytes later.
    private let tables: [UInt64]
    private let width: Int
    private var register: UInt64

    static let crc32 = CyclicRedundancyCheck(polynomial: 0xEDB8_8320, width: 32)
    static let crc32c = CyclicRedundancyCheck(polynomial: 0x82F6_3B78, width: 32)
    static let crc64nvme = CyclicRedundancyCheck(polynomial: 0x9A6C_9329_AC4B_C9B5, width: 64)

    /// Makes the CRC of no bytes.
    /// - Parameter polynomial: the polynomial with its bits in reverse order.
    private init(polynomial: UInt64, width: Int) {
        var tables = [UInt64](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt64(byte)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
            tables[byte] = value
        }
        for byte in 0..<256 {
            for distance in 1..<8 {
                let before = tables[256 * (distance - 1) + byte]
                tables[256 * distance + byte] = before >> 8 ^ tables[Int(before & 0xFF)]
            }
        }
        self.tables = tables
        self.width = width
        register = width == 64 ? .max : UInt64(UInt32.max)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var register = register
        var position = 0
        if width == 64, let start = bytes.bindMemory(to: UInt8.self).baseAddress {
            withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { folded in
                let folding = folded.bindMemory(to: UInt8.self)
                position = crc64nvme_fold(register, start, bytes.count, folding.baseAddress)
                if position > 0 { register = remainder(of: UnsafeRawBufferPointer(folded), 0) }
            }
        }
        self.register = remainder(of: UnsafeRawBufferPointer(rebasing: bytes[position...]), register)
    }

    /// The register after bytes.
    private func remainder(of bytes: UnsafeRawBufferPointer, _ register: UInt64) -> UInt64 {
        var register = register
        var position = 0
        tables.withUnsafeBufferPointer { tables in
            while position + 8 <= bytes.count {
                let word =
                    register ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let first = tables[0x700 + Int(word & 0xFF)] ^ tables[0x600 + Int(word >> 8 & 0xFF)]
                let second = tables[0x500 + Int(word >> 16 & 0xFF)] ^ tables[0x400 + Int(word >> 24 & 0xFF)]
                let third = tables[0x300 + Int(word >> 32 & 0xFF)] ^ tables[0x200 + Int(word >> 40 & 0xFF)]
                let fourth = tables[0x100 + Int(word >> 48 & 0xFF)] ^ tables[Int(word >> 56)]
                register = first ^ second ^ third ^ fourth
                position += 8
            }
            while position < bytes.count {
                register = register >> 8 ^ tables[Int((register ^ UInt64(bytes[position])) & 0xFF)]
                position += 1
            }
        }
        return register
    }

    func finalize() -> [UInt8] {
        let value = ~register
        return stride(from: width - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> UInt64($0)) }
    }
}
