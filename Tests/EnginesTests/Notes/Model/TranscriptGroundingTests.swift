import Foundation
import TestSupport
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
            "Metformin 500 mg BD",
            "metformin, 500mg, twice a day", "Blood pressure 152/94 mmHg", "Temperature 38.2 °C", "Right ear is red",
            "Start amoxicillin 250 mg for 7 days", "Amoxicillin 250 mg for a week", "Return in 14 days",
            "1. Return in two weeks", "- Come back if there is trouble breathing", "Doing fine",
            "", "The patient was seen today",
        ])
    func said(statement: String) {
        #expect(TranscriptGrounding(Self.visit).gaps(in: statement).isEmpty)
    }

    @Test(
        "what was not said is found",
        arguments: [
            ("Cough for 4 days", [.number]), ("Blood pressure 150/94", [.number]), ("Age 45-year-old", [.number]),
            ("Pulse 94", [.number]), ("Temperature 38.5", [.number]), ("Metformin 850 mg", [.dose]),
            ("Metformin 500 mcg", [.dose]), ("Metformin 500 mg once a day", [.dose]), ("Metformin 250 mg", [.dose]),
            ("Stop amoxicillin", [.change]), ("Take ibuprofen", [.medicine]), ("Take zofenopril", [.medicine]),
            ("Ibuprofen 400 mg", [.medicine, .dose]), ("Right knee pain", [.side]), ("Left ear is red", [.side]),
            ("Bilateral knee pain", [.side]), ("Denies cough", [.negation]), ("Reports fever", [.negation]),
            ("Has chest pain", [.negation]), ("No known allergies", [.negation]), ("NKDA", [.negation]),
            ("Denies nausea", [.negation]), ("No surgery planned", [.negation]), ("No trouble breathing", [.negation]),
        ] as [(String, Set<Gap>)])
    func unsaid(statement: String, gaps: Set<Gap>) {
        #expect(TranscriptGrounding(Self.visit).gaps(in: statement) == gaps)
    }

    /// Things that are said, with a statement that is right and one that is wrong.
    private static let pairs: [(said: String, right: String, wrong: String)] = [
        ("Take point five milligrams of lorazepam.", "Lorazepam 0.5 mg", "Lorazepam 5 mg"),
        ("Take nought point five mg of lorazepam.", "Lorazepam 0.5 mg", "Lorazepam 5 mg"),
        ("Ramipril five mg. Come back in ten days.", "Ramipril 5 mg", "Ramipril 10 mg"),
        (
            "Continue aspirin 81 mg, atorvastatin 40 mg at night, and metoprolol 25 mg.", "Aspirin 81 mg",
            "Aspirin 40 mg"
        ),
        (
            "Continue aspirin 81 mg, atorvastatin 40 mg at night, and metoprolol 25 mg.", "Metoprolol 25 mg",
            "Atorvastatin 25 mg"
        ),
        ("Methotrexate 15 mg once a week.", "Methotrexate 15 mg weekly", "Methotrexate 15 mg daily"),
        ("Take ramipril 5 mg once a day.", "Ramipril 5 mg OD", "Ramipril 5 mg BD"),
        ("Amoxicillin 250 mg three times a day for five days.", "Amoxicillin for 5 days", "Amoxicillin for 3 days"),
        ("Levothyroxine 0.125 mg a day.", "Levothyroxine 125 mcg", "Levothyroxine 125 mg"),
        ("Stop the amlodipine and start losartan.", "Stop amlodipine, start losartan", "Start amlodipine"),
        ("You must not stop the prednisolone.", "Continue prednisolone", "Stop prednisolone"),
        ("Patient: I can't walk because of the chest pain.", "Chest pain when walking", "Denies chest pain"),
        ("Doctor: Has the fever gone?\nPatient: No.", "Persistent fever", "Denies fever"),
        (
            "Doctor: Any chest pain?\nPatient: No, only when I climb stairs.", "Exertional chest pain",
            "Denies chest pain"
        ),
        ("Patient: I've never had a headache like this.", "Severe headache", "Denies headache"),
        ("Doctor: Any phlegm with the cough?\nPatient: No.", "Dry cough", "Denies cough"),
        ("Doctor: Any allergies?\nPatient: No.", "No known drug allergies", "Allergic to penicillin"),
        ("Doctor: Any allergies?\nPatient: Just penicillin.", "Allergic to penicillin", "NKDA"),
        ("Doctor: Are you short of breath?\nPatient: No.", "Denies dyspnoea", "Reports breathlessness"),
        ("A rash on the left arm, and a lump in the right breast.", "Right breast lump", "Left breast lump"),
        ("Doctor: Which knee hurts?\nPatient: Right.", "Right knee pain", "Left knee pain"),
        ("My left leg and my right leg are swollen.", "Bilateral leg swelling", "Bilateral arm swelling"),
        ("Your oxygen is 96 percent.", "SpO2 96%", "SpO2 98%"),
    ]

    @Test("a right statement is kept, and a wrong one about the same words is found", arguments: pairs.indices)
    func rightAndWrong(index: Int) {
        let (said, right, wrong) = Self.pairs[index]
        let grounding = TranscriptGrounding(said)
        #expect(grounding.gaps(in: right).isEmpty, "\(right): \(grounding.gaps(in: right))")
        #expect(!grounding.gaps(in: wrong).isEmpty, "\(wrong)")
    }

    @Test("of what another model wrote for eight visits, most right statements are kept and most wrong ones found")
    func visits() throws {
        var (dropped, kept) = ([String](), [String]())
        var (right, wrong) = (0, 0)
        for visit in try String(contentsOf: projectFile("Tests/Notes/statements.txt"), encoding: .utf8)
            .split(separator: "###\n").dropFirst()
        {
            let lines = visit.split(separator: "\n")
            let isStatement = { (line: Substring) in line.hasPrefix("+ ") || line.hasPrefix("- ") }
            let grounding = TranscriptGrounding(lines.filter { !isStatement($0) }.joined(separator: "\n"))
            for line in lines where isStatement(line) {
                let statement = String(line.dropFirst(2))
                let isFound = !grounding.gaps(in: statement).isEmpty
                if line.hasPrefix("+") {
                    right += 1
                    if isFound { dropped.append(statement) }
                } else {
                    wrong += 1
                    if !isFound { kept.append(statement) }
                }
            }
        }
        #expect((right, wrong) == (197, 34))
        #expect(dropped.count <= 23, "\(dropped)")
        #expect(kept.count <= 8, "\(kept)")
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
        #expect(grounding.gaps(in: "Bukhar nahi hai") == [.negation])
    }

    @Test("endless texts take time in proportion to their length")
    func endless() {
        for words in ["left knee no fever 5 mg ramipril", "right", "no", "5\n", "-", "1,", "ramipril 5 mg\n"] {
            let text = String(repeating: words + " ", count: 200_000 / words.count)
            let grounding = TranscriptGrounding(text)
            _ = grounding.gaps(in: String(text.prefix(2000)), example: text)
        }
    }
}
