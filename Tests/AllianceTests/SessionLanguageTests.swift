import ServerTestSupport
import Testing

@testable import Alliance

struct SessionLanguageTests {
    @Test(
        "a hint names a known language in any letter case, and is dropped otherwise", .covers("M-19"),
        arguments: [
            ("en", "en"), ("EN", "en"), ("en-in", "en-IN"), ("EN-HI", "en-hi"), ("ES", "es"), ("pt-BR", "pt-BR"),
            ("zh_TW", "zh_TW"), ("auto_detect", nil), ("AUTO_DETECT", nil), ("zz", nil), ("e", nil),
            ("english", nil), ("klingon-tlh!", nil), ("en-\u{200B}", nil), ("é", nil), ("", nil),
        ] as [(String, String?)])
    func hinted(hint: String, language: String?) { #expect(SessionLanguage.hinted(by: hint) == language) }

    @Test("each language that discovery lists can be hinted at")
    func listed() {
        for code in SessionLanguage.listed.dropFirst() { #expect(SessionLanguage.hinted(by: code) == code) }
    }
}
