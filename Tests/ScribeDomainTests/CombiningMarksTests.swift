import ScribeDomain
import Testing

struct CombiningMarksTests {
    @Test(
        "thirty marks in a row are enough for any language, written as they are or escaped",
        arguments: ["\u{301}", "\u{5B0}", "\u{1D165}", #"\u0301"#], ["", "a", "नमस्ते "])
    func runs(mark: String, before: String) {
        func areTooMany(_ count: Int) -> Bool {
            CombiningMarks.areTooMany(in: (before + String(repeating: mark, count: count) + "z").utf8)
        }
        #expect(!areTooMany(30))
        #expect(areTooMany(31))
    }

    @Test(
        "what is no UTF-8, and an escape that breaks off, is no mark",
        arguments: [[0xCC], [0x5C], Array(#"\u03"#.utf8), [0xFF, 0xCC, 0x41]] as [[UInt8]])
    func broken(bytes: [UInt8]) {
        #expect(!CombiningMarks.areTooMany(in: bytes))
        #expect(!CombiningMarks.areTooMany(in: AnyCollection(bytes)), "also where the bytes are in no one place")
    }
}
