import Testing

@testable import ScribeHTTP

struct CharacterRunTests {
    @Test(
        "a run of characters matches as the regular expression does",
        arguments: [
            #"^[^\x00-\x1f\x7f]*$"#, #"^[^\x00-\x1f\x7f]+$"#, #"^[^/\x00-\x1f\x7f]+$"#, "^[0-9]+$",
            "^[A-Za-z0-9_-]{1,6}$", "^[!-~]{2,}$", "^[0-9a-f]{4}$", "^[B-Z]$",
        ])
    func likeTheExpression(pattern: String) throws {
        let run = try #require(CharacterRun(pattern))
        let expression = try Regex(pattern).matchingSemantics(.unicodeScalar)
        for text in [
            "", "a", "A", "Z", "-", "_", "/", "a/b", "0", "42", "0af9", "0AF9", "a b", "a\u{7f}", "\n", "a\n", "é",
            "e\u{301}", "🩺",
            "abcdef", "abcdefg", "हाँ", "\u{0}", "~~", " ", "!!", "[", "]", "\\", "^", "$",
        ] {
            #expect(
                run.matches(text) == (text.firstMatch(of: expression) != nil), "\(pattern) and \(text.debugDescription)"
            )
        }
    }

    @Test(
        "a pattern of another form is left to the regular expression",
        arguments: [
            "", "^", "^[", "^[]", "^[a", "^[a]", "[a]$", "^a$", "^[a]b$", #"^[\s]$"#, "^[a]{x}$", "^[a]{2,1}$",
            "^[a]{1,2,3}$",
            "^[a]?$", "^[z-a]$", "^[é]$", "^[a]|[b]$", #"^[\x8]$"#, "^[[:alpha:]]$", "^[a-\u{e9}]$",
        ])
    func otherForms(pattern: String) { #expect(CharacterRun(pattern) == nil) }
}
