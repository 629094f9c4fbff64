import Basics
import Testing

struct StringSplittingTests {
    @Test(
        "a text is split by bytes as the standard library splits it by characters",
        arguments: ["", "/", "//", "a", "a/b", "/a//b/", "नमस्ते/दुनिया", "a/b/c/d", "é/ü"], [true, false])
    func split(text: String, omitsEmpty: Bool) {
        for most in [0, 1, 2, Int.max] {
            #expect(
                text.split(ascii: "/", maxSplits: most, omittingEmptySubsequences: omitsEmpty)
                    == text.split(separator: "/", maxSplits: most, omittingEmptySubsequences: omitsEmpty))
        }
        #expect(text.dropFirst().split(ascii: "/") == text.dropFirst().split(separator: "/"))
    }

    @Test("a text is split at a separator even if a combining mark follows the separator")
    func combiningMark() {
        #expect("a/\u{301}b".split(ascii: "/") == ["a", "\u{301}b"])
    }

    @Test(
        "words and lines are split as the standard library splits them",
        arguments: [
            "", " ", "one", " two  words ", "tab\tand\nline", "a\r\nb\rc\n\nd", "a\u{B}b\u{C}c", "दो शब्द\u{2028}हैं",
            "a\u{A0}b",
            "a\u{85}b", "\u{1C}a\u{1F}b",
        ])
    func wordsAndLines(text: String) {
        #expect(text.words == text.split(whereSeparator: \.isWhitespace))
        #expect(text.lines == text.split(whereSeparator: \.isNewline))
    }
}
