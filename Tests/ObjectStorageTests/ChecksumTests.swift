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
}
