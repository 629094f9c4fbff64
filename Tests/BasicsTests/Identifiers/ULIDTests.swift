import Basics
import Foundation
import Testing

struct ULIDTests {
    @Test("a ULID is 26 digits, of which the first ten are the time, as the specification's example has it")
    func encoding() {
        // github.com/ulid/spec: 1469918176385 is 01ARYZ6S41.
        let text = ULID.text(at: Date(timeIntervalSince1970: 1_469_918_176.385), [UInt8](repeating: 255, count: 10))
        #expect(text == "01ARYZ6S41ZZZZZZZZZZZZZZZZ")
        let none = [UInt8](repeating: 0, count: 10)
        #expect(ULID.text(at: Date(timeIntervalSince1970: 0), none) == String(repeating: "0", count: 26))
        #expect(ULID.text(at: .distantFuture, none).count == 26)
        #expect(ULID.text(at: .distantPast, none).count == 26)
    }

    @Test("later ULIDs sort behind earlier ones")
    func order() {
        let times = [1.0, 1.001, 2, 1000, 1_700_000_000]
        let texts = times.map { ULID.text(at: Date(timeIntervalSince1970: $0), [7, 7, 7, 7, 7, 7, 7, 7, 7, 7]) }
        #expect(texts == texts.sorted())
    }
}
