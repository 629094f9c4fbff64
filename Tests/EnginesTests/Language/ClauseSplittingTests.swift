import Testing

@testable import Engines

/// The third stage of a note: clauses, each with one thought.
struct ClauseSplittingTests {
    private func clauses(_ text: String) -> [String] {
        ClauseSplitting.clauses(of: Token.tokens(of: text[...])).map(\.tokens.text)
    }

    @Test(
        "speech is split where a new subject, a contrast or a question begins, with or without punctuation",
        arguments: [
            ("I have a cough and I smoke.", ["i have a cough", "I smoke"]),
            ("My chest hurts but I can sleep.", ["my chest hurts", "I can sleep"]),
            ("any fever no any chest pain no", ["any fever", "no", "any chest pain", "no"]),
            (
                "okay your blood pressure is fine take paracetamol",
                ["okay your blood pressure is fine", "take paracetamol"]
            ),
            ("the gliclazide is the one that does that", ["the gliclazide is the one that does that"]),
        ])
    func split(said: String, read: [String]) {
        #expect(clauses(said) == read)
    }

    @Test("a verb behind and shares the subject of the clause before")
    func carried() {
        let clauses = ClauseSplitting.clauses(of: Token.tokens(of: "I smoke and drink."))
        #expect(clauses.map(\.carriesSubject) == [false, true])
    }

    @Test("a condition stays with what follows from it")
    func conditions() {
        let said = ConditionalClauses.joined(Dialogue("Doctor: If the pain comes at rest, ring 999.").clauses)
        #expect(said.map(\.tokens.text) == ["if the pain comes at rest, ring 999"])
    }
}
