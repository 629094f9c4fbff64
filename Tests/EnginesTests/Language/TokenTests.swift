import Testing

@testable import Engines

/// The second stage of a note: the words of a turn.
struct TokenTests {
    @Test(
        "words come without fillers, repetitions and what was taken back, spelt letters as one word, and Hindi in English",
        arguments: [
            ("um i have, you know, a cough", "i have, a cough"),
            ("the the pain started started on monday", "the pain started on monday"),
            ("take ten, no, twenty milligrams", "take twenty milligrams"),
            ("my left knee, sorry, my right knee", "my right knee"),
            ("your h b a one c was high", "your HbA1c was high"),
            ("th-the pain", "the pain"), ("co-codamol", "co-codamol"),
            ("teen din se bukhar hai", "fever for three days"),
            ("goli din mein do baar", "tablet twice a day"),
        ])
    func cleaned(said: String, read: String) {
        #expect(Turn.all(in: said).map(\.tokens.text) == [read])
    }

    @Test("punctuation after a word is a pause")
    func pauses() {
        let tokens = Token.tokens(of: "Well, any fever? No.")
        #expect(tokens.map(\.plain) == ["well", "any", "fever", "no"])
        #expect(tokens.map(\.pause) == [.comma, .none, .question, .end])
    }

    @Test("a word knows its place in the transcript")
    func source() {
        let text = "No fever."
        #expect(Token.tokens(of: text[...]).map { String(text[$0.source]) } == ["No", "fever"])
    }
}
