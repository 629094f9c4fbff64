import ServerTestSupport
import Testing

@testable import ScribeHTTP

struct ByteRangeTests {
    @Test(
        "a Range header is read as S3 reads it",
        arguments: [
            ("bytes=0-9", 0...9), ("bytes=10-", 10...99), ("bytes=-5", 95...99), ("bytes=90-200", 90...99),
            ("bytes=-500", 0...99), ("items=0-9", nil), ("bytes=0-1,3-4", nil), ("bytes=9-3", nil), ("bytes=-", nil),
            ("bytes=a-b", nil), ("bytes=½-5", nil), ("bytes=0-99999999999999999999", 0...99),
            ("bytes=-99999999999999999999", 0...99),
        ] as [(String, ClosedRange<Int>?)]
    )
    func reading(text: String, bytes: ClosedRange<Int>?) throws {
        #expect(try ByteRange(text, of: 100)?.bytes == bytes)
    }

    @Test(
        "a Range header without a byte of the object cannot be satisfied",
        arguments: ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999-"])
    func unsatisfiable(text: String) {
        #expect(throws: ByteRange.Unsatisfiable.self) { try ByteRange(text, of: 100) }
        #expect(throws: ByteRange.Unsatisfiable.self) { try ByteRange("bytes=-5", of: 0) }
    }
}
