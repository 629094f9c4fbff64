import Basics
import Testing

struct CombiningMarksTests {
    @Test(
        "a text may have thirty combining marks in a row, literal or escaped, and no more",
        arguments: ["\u{301}", "\u{5B0}", "\u{1D165}", #"\u0301"#], ["", "a", "नमस्ते "])
    func runs(mark: String, before: String) {
        func areTooMany(_ count: Int) -> Bool {
            CombiningMarks.areTooMany(in: (before + String(repeating: mark, count: count) + "z").utf8)
        }
        #expect(!areTooMany(30))
        #expect(areTooMany(31))
    }

    @Test(
        "invalid UTF-8 and incomplete escapes do not count as combining marks",
        arguments: [[0xCC], [0x5C], Array(#"\u03"#.utf8), [0xFF, 0xCC, 0x41]] as [[UInt8]])
    func broken(bytes: [UInt8]) {
        #expect(!CombiningMarks.areTooMany(in: bytes))
        #expect(!CombiningMarks.areTooMany(in: AnyCollection(bytes)), "also where the bytes are in no one place")
    }

    @Test("marks are found wherever they begin", arguments: Array(0...24))
    func places(before: Int) {
        let marks = String(repeating: "\u{301}", count: 31)
        let escapes = String(repeating: #"\u0301"#, count: 31)
        for (text, areTooMany) in [
            (marks, true), (escapes, true), (String(String.UnicodeScalarView(marks.unicodeScalars.dropLast(1))), false),
        ] {
            let said = String(repeating: "a", count: before) + text + String(repeating: "[", count: before)
            #expect(CombiningMarks.areTooMany(in: said.utf8) == areTooMany)
        }
    }
}
