import Testing

@testable import Engines

struct TranscriptGroundingTests {
    typealias Gap = TranscriptGrounding.Gap

    private static let visit = """
        Doctor: Right, what brings you in? Any fever or chills?
        Patient: No. But I have had a cough for three days, and my left knee hurts. I get no chest pain.
        Doctor: Are you allergic to anything? Do you take anything?
        Patient: I am allergic to penicillin. I take metformin five hundred mg twice a day.
        Doctor: Blood pressure is one fifty two over ninety four, temperature 38.2. Your right ear is red.
        Doctor: I will start amoxicillin 250 mg for seven days. Come back in two weeks if you have trouble breathing.
        """

    @Test(
        "what was said has no gaps, in digits as in words",
        arguments: [
            "Cough for 3 days", "Reports a cough for three days.", "Left knee pain", "Pain in the left knee",
            "Denies fever and chills", "No fever, chills or chest pain", "Denies chest pain but has a cough",
            "Allergic to penicillin", "Metformin 500 mg twice a day", "Metformin 500 mg 2 times a day",
            "metformin, 500mg, twice a day", "Blood pressure 152/94 mmHg", "Temperature 38.2 °C", "Right ear is red",
            "Start amoxicillin 250 mg for 7 days", "1. Return in two weeks",
            "- Come back if there is trouble breathing",
            "Doing fine", "", "The patient was seen today",
        ])
    func said(statement: String) {
        #expect(TranscriptGrounding(Self.visit).gaps(in: statement).isEmpty)
    }

    @Test(
        "what nobody said is found",
        arguments: [
            ("Cough for 4 days", [.number]), ("Blood pressure 150/94", [.number]), ("Age 45-year-old", [.number]),
            ("Temperature 38.5", [.number]), ("Metformin 850 mg", [.dose]), ("Metformin 500 mcg", [.dose]),
            ("Take ibuprofen", [.medicine]), ("Take zofenopril", [.medicine]),
            ("Ibuprofen 400 mg", [.medicine, .dose]),
            ("Right knee pain", [.side]), ("Left ear is red", [.side]), ("Bilateral knee pain", [.side]),
            ("Denies cough", [.negation]), ("Reports fever", [.negation]), ("Has chest pain", [.negation]),
            ("No known allergies", [.negation]), ("Denies nausea", [.negation]), ("No surgery planned", [.negation]),
            ("No trouble breathing", [.negation]),
        ] as [(String, Set<Gap>)])
    func unsaid(statement: String, gaps: Set<Gap>) {
        #expect(TranscriptGrounding(Self.visit).gaps(in: statement) == gaps)
    }

    @Test("a dose far from its medicine belongs to another one")
    func swapped() {
        let between = Array(repeating: "And then we talked of the weather for a while.", count: 12).joined(
            separator: " ")
        let grounding = TranscriptGrounding("Take ramipril 5 mg. \(between) Take atorvastatin 20 mg.")
        #expect(grounding.gaps(in: "Ramipril 5 mg").isEmpty)
        #expect(grounding.gaps(in: "Ramipril 5 mg and atorvastatin 20 mg").isEmpty)
        #expect(grounding.gaps(in: "Ramipril 20 mg") == [.dose])
    }

    @Test("the template's example is no statement, unless it was said")
    func example() {
        let grounding = TranscriptGrounding("Drink plenty of water, please.")
        #expect(grounding.gaps(in: "Rest in bed.", example: "rest in bed") == [.example])
        #expect(grounding.gaps(in: "Drink plenty of water", example: "Drink plenty of water").isEmpty)
    }

    @Test("Hindi words are read as the rules read them")
    func hindi() {
        let grounding = TranscriptGrounding("Patient: Mujhe teen din se bukhar hai. Khansi nahi hai.")
        #expect(grounding.gaps(in: "Fever for 3 days").isEmpty)
        #expect(grounding.gaps(in: "Denies cough").isEmpty)
        #expect(grounding.gaps(in: "Fever for 5 days") == [.number])
    }

    @Test("endless texts take time in proportion to their length")
    func endless() {
        for words in ["left knee no fever 5 mg ramipril", "right", "no", "1", "-", "1,"] {
            let text = String(repeating: words + " ", count: 60_000 / words.count)
            let grounding = TranscriptGrounding(text)
            _ = grounding.gaps(in: String(text.prefix(2000)), example: text)
        }
    }
}
