import Basics
import Testing

@Suite struct StringBytesTests {
    @Test("texts have the same bytes only if each byte is the same, also where Swift calls them equal")
    func sameBytes() {
        let (short, long) = ("\u{E9}", "e\u{301}")
        #expect(short == long)
        #expect(!short.hasSameBytes(as: long))
        #expect(!"a\u{301}\u{323}".hasSameBytes(as: "a\u{323}\u{301}"))
        for text in ["", "a", short, long, String(repeating: "x", count: 100)] {
            #expect(text.hasSameBytes(as: String(decoding: Array(text.utf8), as: UTF8.self)))
            #expect(!text.hasSameBytes(as: text + "a"))
        }
        #expect(!"transaction-1".hasSameBytes(as: "transaction-2"))
    }
}
