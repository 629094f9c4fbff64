import Foundation
import ScribeDomain
import Testing

@testable import Engines

struct FactExtractionTests {
    func facts(_ kind: ClinicalFact.Kind, in transcript: String) -> [String] {
        FactExtraction.facts(in: transcript).filter { $0.kind == kind }.map(\.text)
    }

    @Test(
        "complaints come with their duration",
        arguments: [
            (
                "I have had a fever for three days and a dry cough since Monday.",
                ["fever for three days", "dry cough since Monday"]
            ),
            ("i have a severe headache for the last two weeks", ["severe headache for the last two weeks"]),
            ("My lower back pain is worse. I feel dizziness.", ["lower back pain", "dizziness"]),
            ("I have no fever, and never had chest pain.", []),
            ("Do you have a fever?", []),
            ("do you have a cough", []),
        ]
    )
    func complaints(transcript: String, expected: [String]) {
        #expect(facts(.complaint, in: transcript) == expected)
    }

    @Test(
        "medications come with dose, frequency and duration",
        arguments: [
            (
                "Take paracetamol 650 mg three times a day for five days.",
                ["paracetamol 650 mg three times a day for five days"]
            ),
            (
                "take ibuprofen four hundred milligrams twice daily after food",
                ["ibuprofen four hundred milligrams twice daily after food"]
            ),
            ("I take amlodipine 5 mg once a day in the morning.", ["amlodipine 5 mg once a day in the morning"]),
            ("Start taking zyntrafil 20mg every eight hours.", ["zyntrafil 20mg every eight hours"]),
            ("You do not need amoxicillin.", []),
            (
                "Take metformin 500 mg daily and atorvastatin 10 mg at night.",
                ["metformin 500 mg daily", "atorvastatin 10 mg at night"]
            ),
        ]
    )
    func medications(transcript: String, expected: [String]) {
        #expect(facts(.medication, in: transcript) == expected)
    }

    @Test("a medication's parts are named")
    func medicationParts() {
        let fact = FactExtraction.facts(in: "Take paracetamol 650 mg three times a day for five days.").first
        #expect(
            fact?.details == [
                "name": "paracetamol", "dose": "650 mg", "frequency": "three times a day", "duration": "for five days",
            ]
        )
    }

    @Test("history, allergy, examination, assessment, advice and follow-up are told apart")
    func others() {
        let transcript = """
            Doctor: I have a history of asthma. I am allergic to penicillin.
            Doctor: On examination the chest is clear. This looks like a viral infection.
            Doctor: Drink plenty of fluids and rest at home. Please avoid cold drinks.
            Doctor: Come back for a review in one week if the fever does not settle.
            """
        #expect(facts(.history, in: transcript) == ["history of asthma"])
        #expect(facts(.allergy, in: transcript) == ["allergic to penicillin"])
        #expect(facts(.examination, in: transcript) == ["On examination the chest is clear"])
        #expect(facts(.assessment, in: transcript) == ["This looks like a viral infection"])
        #expect(facts(.advice, in: transcript) == ["Drink plenty of fluids", "rest at home", "avoid cold drinks"])
        #expect(facts(.followUp, in: transcript) == ["Come back for a review in one week if the fever does not settle"])
        #expect(facts(.complaint, in: transcript) == [])
    }

    @Test(
        "what is denied is not noted, or noted as denied",
        arguments: [
            ("I am not allergic to penicillin.", [ClinicalFact(.allergy, "not allergic to penicillin")]),
            ("No family history of heart disease.", [ClinicalFact(.history, "No family history of heart disease")]),
            ("I was never diagnosed with asthma.", [ClinicalFact(.history, "never diagnosed with asthma")]),
            ("Don't take aspirin.", [ClinicalFact(.advice, "Don't take aspirin")]),
            ("Never take aspirin with warfarin.", [ClinicalFact(.advice, "Never take aspirin with warfarin")]),
            ("I haven't had any fever or cough.", []), ("I don’t have a fever.", []), ("I deny vomiting.", []),
            ("He doesn't have a rash.", []), ("No fever, cough, chills, vomiting, diarrhoea or rash.", []),
            ("I have not had any kind of chest pain.", []), ("I never drink alcohol.", []),
        ]
    )
    func denials(transcript: String, expected: [ClinicalFact]) {
        #expect(FactExtraction.facts(in: transcript) == expected)
    }

    @Test("a denial ends at a contrast")
    func contrast() {
        #expect(facts(.complaint, in: "I have no fever but a dry cough.") == ["dry cough"])
    }

    @Test(
        "what is stopped, refused or not tolerated is no medication",
        arguments: [
            ("Stop ibuprofen.", [ClinicalFact(.advice, "Stop ibuprofen")]),
            ("Stop atenolol 50 mg.", [ClinicalFact(.advice, "Stop atenolol 50 mg")]),
            ("Penicillin gives me a rash.", [ClinicalFact(.allergy, "Penicillin gives me a rash")]),
            (
                "I took amoxicillin and it gave me hives.",
                [ClinicalFact(.allergy, "I took amoxicillin and it gave me hives")]
            ),
            ("I stopped taking metformin.", []), ("I used to take lisinopril 10 mg.", []),
            ("I won't give you codeine.", []), ("My iron is low.", []),
            (
                "Reduce prednisolone from 20 mg to 10 mg.",
                [ClinicalFact(.advice, "Reduce prednisolone from 20 mg to 10 mg")]
            ),
        ]
    )
    func notTaken(transcript: String, expected: [ClinicalFact]) {
        #expect(FactExtraction.facts(in: transcript).filter { $0.kind != .complaint } == expected)
    }

    @Test(
        "a dose stays with its medication",
        arguments: [
            (
                "Take 500 mg of amoxicillin three times a day and 10 mg of cetirizine at night.",
                ["500 mg of amoxicillin three times a day", "10 mg of cetirizine at night"]
            ),
            (
                "Take two tablets of paracetamol every four to six hours.",
                ["two tablets of paracetamol every four to six hours"]
            ),
            ("Take azithromycin 250 once daily for 5-7 days.", ["azithromycin 250 once daily for 5-7 days"]),
            ("Take ramipril 5 mg od for fourteen days.", ["ramipril 5 mg od for fourteen days"]),
        ]
    )
    func doses(transcript: String, expected: [String]) {
        #expect(facts(.medication, in: transcript) == expected)
    }

    @Test("who speaks of himself has begun to answer, punctuation or not")
    func answers() {
        let first = "what brings you in today i have had a fever for three days and a cough since monday"
        #expect(facts(.complaint, in: first) == ["fever for three days", "cough since monday"])
        let second = "do you take any medicines i take metformin 500 mg twice a day"
        #expect(facts(.medication, in: second) == ["metformin 500 mg twice a day"])
    }

    @Test(
        "a doctor's questions, possibilities, what is over and other people's complaints are not noted",
        arguments: [
            "Doctor: Any weight loss\nPatient: No", "Doctor: any fever or cough in the family",
            "Doctor: Fever\nPatient: No",
            "Call me if you develop chest pain or shortness of breath.", "This can cause dizziness.",
            "[00:12] DOCTOR - you said you had a headache", "The fever has gone.", "The knee pain is better.",
            "My daughter has a fever.", "I have a patient with fever waiting outside.",
        ]
    )
    func notComplaints(transcript: String) {
        #expect(facts(.complaint, in: transcript) == [])
    }

    @Test(
        "quotes are not cut off",
        arguments: [
            ("I had surgery on my left knee in 2015.", ["I had surgery on my left knee in 2015"]),
            ("You should rest.", ["You should rest"]), ("You have a lovely family.", []),
            ("You have acute bronchitis.", ["You have acute bronchitis"]), ("I can't stop coughing.", []),
            ("It may take a week.", []), ("Heart disease runs in the family.", ["Heart disease runs in the family"]),
            ("Come back if you have a fever.", ["Come back if you have a fever"]),
        ]
    )
    func wholeQuotes(transcript: String, expected: [String]) {
        #expect(FactExtraction.facts(in: transcript).filter { $0.kind != .complaint }.map(\.text) == expected)
    }

    @Test(
        "plain words for complaints and conditions are known",
        arguments: [
            ("My left knee hurts.", "left knee hurts"), ("I have asthma.", "asthma"),
            ("I vomited twice since yesterday evening.", "vomited since yesterday evening"),
            ("The cough began on Monday, since the 3rd of May I have had headaches.", "cough"),
            ("I have had headaches since 3 days.", "headaches since 3 days"),
        ]
    )
    func plainWords(transcript: String, expected: String) {
        #expect(FactExtraction.facts(in: transcript).map(\.text).contains(expected))
    }

    @Test("what is said twice is noted once")
    func repetition() {
        #expect(facts(.complaint, in: "I have a fever. I have a fever.") == ["fever"])
    }

    @Test("every word of every fact was spoken")
    func nothingInvented() {
        let transcript = """
            I have had a bad cough for about two weeks and a mild fever since last night. I smoke. My father had diabetes.
            Take azithromycin 500 mg once a day for three days and stop smoking. See you in two weeks.
            """
        let heard = Set(Speech(transcript).words.map(\.plain))
        let facts = FactExtraction.facts(in: transcript)
        #expect(facts.count >= 6)
        for fact in facts {
            for word in Speech(fact.text).words { #expect(heard.contains(word.plain), "\(word.plain)") }
        }
    }
}
