import Crypto
import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import ObjectStorage

struct ChecksumTests {
    @Test(
        "each checksum of \"123456789\" is the published check value",
        arguments: [
            (ChecksumAlgorithm.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
            (.sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
        ]
    )
    func checkValues(algorithm: ChecksumAlgorithm, hex: String) {
        // In one piece and in two, so that the eight-byte steps and the rest are both taken.
        for cut in 0...9 {
            let text = Array("123456789".utf8)
            var checksum = RunningChecksum(algorithm)
            text[..<cut].withUnsafeBytes { checksum.update($0) }
            text[cut...].withUnsafeBytes { checksum.update($0) }
            #expect(checksum.finalize().map { String(format: "%02x", $0) }.joined() == hex)
        }
    }

    @Test("CRC64NVME is the same however its bytes are cut, and as a loop over bits computes it")
    func folded() {
        let bytes = (0..<700).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ $0 / 11) }
        for count in [0, 1, 63, 64, 127, 128, 129, 191, 192, 200, 256, 511, 700] {
            let text = Array(bytes.prefix(count))
            let whole = ChecksumAlgorithm.crc64nvme.checksum(of: text)
            #expect(whole == Self.crc64(of: text), "\(count) bytes")
            for cut in [1, 100, 130, 300] where cut < count {
                var checksum = RunningChecksum(.crc64nvme)
                text[..<cut].withUnsafeBytes { checksum.update($0) }
                text[cut...].withUnsafeBytes { checksum.update($0) }
                #expect(checksum.finalize() == whole, "\(count) bytes, cut at \(cut)")
            }
        }
    }

    private static func crc64(of bytes: [UInt8]) -> [UInt8] {
        var register = UInt64.max
        for byte in bytes {
            register ^= UInt64(byte)
            for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0x9A6C_9329_AC4B_C9B5 : register >> 1 }
        }
        return withUnsafeBytes(of: (~register).bigEndian) { Array($0) }
    }
}
