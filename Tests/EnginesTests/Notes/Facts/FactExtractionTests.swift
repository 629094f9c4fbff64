import Foundation
import ScribeDomain
import Testing

@testable import Engines

struct FactExtractionTests {
    func facts(_ kinds: ClinicalFact.Kind..., in transcript: String) -> [String] {
        FactExtraction.facts(in: transcript).filter { kinds.contains($0.kind) }.map(\.text)
    }

    @Test(
        "the rules note complaints with their duration, in the note's voice",
        arguments: [
            (
                "I have had a fever for three days and a dry cough since Monday.",
                ["fever for three days", "dry cough since Monday"]
            ),
            ("i have a severe headache for the last two weeks", ["severe headache for the last two weeks"]),
            ("My lower back pain is worse. I feel dizziness.", ["lower back pain is worse", "feels dizziness"]),
            ("I have no fever, and never had chest pain.", []), ("Do you have a fever?", []),
            ("do you have a cough", []),
            ("I have no fever but a dry cough.", ["dry cough"]), ("My left knee hurts.", ["left knee hurts"]),
            ("I have asthma.", ["asthma"]), ("I have had headaches since 3 days.", ["headaches since 3 days"]),
            ("I have a fever. I have a fever.", ["fever"]),
            (
                "what brings you in today i have had a fever for three days and a cough since monday",
                ["fever for three days", "cough since monday"]
            ),
            ("um i have a headache uh since friday no monday", ["headache since monday"]),
            ("Patient: teen din se bukhar hai.", ["fever for three days"]),
            ("Patient: मुझे तीन दिन से बुखार है।", ["fever for three days"]),
            ("Patient: Doctor sahab, somvaar se khansi hai.", ["cough since monday"]),
        ]
    )
    func complaints(transcript: String, expected: [String]) {
        #expect(facts(.chiefComplaint, .complaint, in: transcript) == expected)
    }

    @Test(
        "a noted complaint has its name and duration as details",
        arguments: [("I have had a fever for three days.", ["name": "fever", "duration": "for three days"])])
    func complaintParts(transcript: String, details: [String: String]) {
        #expect(FactExtraction.facts(in: transcript).first?.details == details)
    }

    @Test(
        "the rules note medications with dose, frequency and duration",
        arguments: [
            (
                "Take paracetamol 650 mg three times a day for five days.",
                ["paracetamol 650 mg three times a day for five days"]
            ),
            (
                "take ibuprofen four hundred milligrams twice daily after food",
                ["ibuprofen 400 mg twice daily after food"]
            ),
            ("I take amlodipine 5 mg once a day in the morning.", ["amlodipine 5 mg once a day in the morning"]),
            ("Start taking zyntrafil 20mg every eight hours.", ["zyntrafil 20 mg every eight hours"]),
            ("You do not need amoxicillin.", []), ("I won't give you codeine.", []), ("My iron is low.", []),
            ("I stopped taking metformin.", []), ("I used to take lisinopril 10 mg.", []),
            (
                "Take metformin 500 mg daily and atorvastatin 10 mg at night.",
                ["metformin 500 mg daily", "atorvastatin 10 mg at night"]
            ),
            (
                "Take 500 mg of amoxicillin three times a day and 10 mg of cetirizine at night.",
                ["amoxicillin 500 mg three times a day", "cetirizine 10 mg at night"]
            ),
            (
                "Take two tablets of paracetamol every four to six hours.",
                ["paracetamol 2 tablets every four to six hours"]
            ),
            ("Take azithromycin 250 once daily for 5-7 days.", ["azithromycin 250 mg once daily for 5-7 days"]),
            ("Take ramipril 5 mg od for fourteen days.", ["ramipril 5 mg od for fourteen days"]),
            ("do you take any medicines i take metformin 500 mg twice a day", ["metformin 500 mg twice a day"]),
            ("Patient: I take lisinopril ten, no, twenty milligrams daily.", ["lisinopril 20 mg daily"]),
            (
                "Doctor: Take amlodipine 5 mg 1-0-1 and pantoprazole 40 mg BD.",
                ["amlodipine 5 mg 1-0-1", "pantoprazole 40 mg BD"]
            ),
            (
                "Patient: Excedrin. Two tablets, it barely touches it.\nDoctor: Any nausea?\nPatient: No.",
                ["excedrin 2 tablets"]
            ),
        ]
    )
    func medications(transcript: String, expected: [String]) {
        #expect(facts(.medication, in: transcript) == expected)
    }

    @Test(
        "the rules note what changes about a medication, and a later dose replaces an earlier one",
        arguments: [
            ("Stop ibuprofen.", "stop ibuprofen", "stopped"),
            ("Stop atenolol 50 mg.", "stop atenolol 50 mg", "stopped"),
            ("Reduce prednisolone from 20 mg to 10 mg.", "reduce prednisolone to 10 mg", "decreased"),
            (
                "Patient: I take lisinopril 10 mg once a day.\nDoctor: Increase lisinopril to 20 mg.",
                "increase lisinopril to 20 mg once a day", "increased"
            ),
            (
                "Patient: Ramipril 5 mg daily.\nPatient: And the ramipril?\nDoctor: Keep that as it is.",
                "continue ramipril 5 mg daily", "continued"
            ),
            ("Doctor: I'll start bisoprolol 2.5 milligrams once a day.", "bisoprolol 2.5 mg once a day", "started"),
        ]
    )
    func changes(transcript: String, text: String, change: String) {
        let fact = FactExtraction.facts(in: transcript).first { $0.kind == .medication }
        #expect(fact?.text == text)
        #expect(fact?.details["change"] == change)
    }

    @Test("a noted medication has name, dose, frequency and duration as details")
    func medicationParts() {
        let fact = FactExtraction.facts(in: "I take paracetamol 650 mg three times a day for five days.").first
        #expect(
            fact?.details == [
                "name": "paracetamol", "dose": "650 mg", "frequency": "three times a day", "duration": "for five days",
            ]
        )
    }

    @Test("the rules tell history, allergy, examination, assessment, advice and follow-up apart")
    func others() {
        let transcript = """
            Patient: I have a history of asthma. I am allergic to penicillin. I had surgery on my left knee in 2015.
            Patient: I smoke ten cigarettes a day and drink alcohol occasionally. My father had diabetes.
            Doctor: Your blood pressure is one thirty over eighty and your pulse is 88. On examination the chest is clear.
            Doctor: This looks like a viral infection. I will order an ECG, a troponin and an HbA1c.
            Doctor: Your chest X-ray was normal. I am referring you to cardiology.
            Doctor: Drink plenty of fluids and rest at home. Please avoid cold drinks.
            Doctor: If you get chest pain at rest go to the emergency room.
            Doctor: Come back for a review in one week if the fever does not settle.
            """
        #expect(facts(.medicalHistory, in: transcript) == ["history of asthma"])
        #expect(facts(.allergy, in: transcript) == ["allergic to penicillin"])
        #expect(facts(.surgicalHistory, in: transcript) == ["had surgery on the left knee in 2015"])
        #expect(
            facts(.socialHistory, in: transcript) == ["smokes ten cigarettes a day", "drinks alcohol occasionally"])
        #expect(facts(.familyHistory, in: transcript) == ["father had diabetes"])
        #expect(facts(.vital, in: transcript) == ["blood pressure 130/80", "pulse 88"])
        #expect(facts(.examination, in: transcript) == ["chest is clear"])
        #expect(facts(.assessment, in: transcript) == ["viral infection"])
        #expect(facts(.investigation, in: transcript) == ["order an ECG, a troponin and an HbA1c"])
        #expect(facts(.result, in: transcript) == ["chest X-ray was normal"])
        #expect(facts(.referral, in: transcript) == ["referring patient to cardiology"])
        #expect(facts(.advice, in: transcript) == ["drink plenty of fluids", "rest at home", "avoid cold drinks"])
        #expect(facts(.returnPrecaution, in: transcript) == ["if patient gets chest pain at rest go to emergency room"])
        #expect(facts(.followUp, in: transcript) == ["come back for a review in one week if fever does not settle"])
        #expect(facts(.chiefComplaint, .complaint, in: transcript) == [])
    }

    @Test(
        "the rules note a denied symptom, allergy or habit as denied",
        arguments: [
            ("I am not allergic to penicillin.", ["not allergic to penicillin"]),
            ("No family history of heart disease.", ["no family history of heart disease"]),
            ("I was never diagnosed with asthma.", ["denies diagnosed with asthma"]),
            ("Don't take aspirin.", ["do not take aspirin"]), ("I deny vomiting.", ["denies vomiting"]),
            ("I haven't had any fever or cough.", ["denies fever", "denies cough"]),
            ("He doesn't have a rash.", ["denies rash"]),
            ("No fever, cough or rash.", ["denies fever", "denies cough", "denies rash"]),
            ("I have not had any kind of chest pain.", ["denies chest pain"]),
            ("Doctor: Any locking or giving way?\nPatient: No.", ["denies locking", "denies giving way"]),
            (
                "any chest pain no shortness of breath no do you smoke no",
                ["denies chest pain", "denies shortness of breath", "does not smoke"]
            ),
            ("Doctor: Koi allergy?\nPatient: Nahi.", ["no allergy"]),
        ]
    )
    func denials(transcript: String, expected: [String]) {
        #expect(FactExtraction.facts(in: transcript).map(\.text) == expected)
    }

    @Test(
        "the rules read a question together with its answer",
        arguments: [
            (
                "Doctor: Any swelling?\nPatient: A little, at the end of the day.",
                "swelling a little, at the end of the day"
            ),
            ("Doctor: Nausea?\nPatient: Yeah.", "nausea"),
            (
                "Doctor: How often are you using the albuterol?\nPatient: Every four hours.",
                "albuterol every four hours"
            ),
        ])
    func answers(transcript: String, expected: String) {
        #expect(FactExtraction.facts(in: transcript).map(\.text).contains(expected))
    }

    @Test("greetings, calls and requests to wait are not noted as symptoms")
    func courtesies() {
        let transcript = """
            tell me what brings you in today and take all the time that you need i have had a fever for three days \
            do you take any medicines i have a history of asthma is there anything else that you would like to ask \
            come back at once if you get short of breath
            """
        #expect(
            FactExtraction.facts(in: transcript).map(\.text) == [
                "fever for three days", "history of asthma", "come back at once if patient gets short of breath",
            ])
        #expect(FactExtraction.facts(in: "Doctor: Let me have a look at you. I will write down the medicines.").isEmpty)
        #expect(
            facts(.returnPrecaution, in: "Doctor: Call me if you get a fever.") == [
                "call clinic if patient gets a fever"
            ])
    }

    @Test(
        "the rules note a reaction to a medicine as an allergy",
        arguments: [
            ("Penicillin gives me a rash.", "penicillin gives patient a rash"),
            ("I took amoxicillin and it gave me hives.", "amoxicillin: gave patient hives"),
            ("Doctor: Allergic to anything?\nPatient: Penicillin.", "penicillin"),
        ])
    func reactions(transcript: String, expected: String) {
        let facts = FactExtraction.facts(in: transcript)
        #expect(facts.map(\.text) == [expected])
        #expect(facts.map(\.kind) == [.allergy])
    }

    @Test(
        "questions, possibilities, past symptoms and other people's complaints are not noted as complaints",
        arguments: [
            "Doctor: Any weight loss\nPatient: No", "Doctor: any fever or cough in the family",
            "Doctor: Fever\nPatient: No",
            "Call me if you develop chest pain or shortness of breath.", "This can cause dizziness.",
            "[00:12] DOCTOR - you said you had a headache", "The fever has gone.",
            "My daughter has a fever.", "I have a patient with fever waiting outside.",
            "Doctor: Is there chest pain?", "my wife has a cough",
            "Patient: My neighbour had dengue. She was very ill with fever.",
        ]
    )
    func notComplaints(transcript: String) {
        #expect(facts(.chiefComplaint, .complaint, in: transcript) == [])
    }

    @Test(
        "a speaker label is any text before a colon, and the speaker who asks most is the clinician",
        arguments: [
            "Doctor: Any fever?\nPatient: No.", "[doctor] any fever ?\n[patient] no .", "GP: Any fever?\nMother: No.",
            "Speaker 1: Any fever?\nSpeaker 2: No.", "Dr. Rao: Any fever?\nAsha: No.",
            "DOCTOR - Any fever?\nPATIENT - No.",
        ])
    func labels(transcript: String) {
        #expect(FactExtraction.facts(in: transcript).map(\.text) == ["denies fever"])
    }

    @Test("every noted fact has its range in the transcript")
    func sources() throws {
        let transcript = "Patient: I have had a fever for three days.\nDoctor: Take paracetamol 650 mg."
        let facts = FactExtraction.facts(in: transcript)
        #expect(
            try facts.map { String(transcript[try #require($0.source)]) } == [
                "fever for three days", "paracetamol 650 mg",
            ])
    }

    @Test("no noted fact copies more than eight words in a row from the transcript")
    func copies() {
        let transcript =
            "Patient: I have had pain in the lower part of my back that goes down into my left leg whenever I try to lift something heavy."
        let said = Token.tokens(of: transcript[...]).map(\.plain)
        let facts = FactExtraction.facts(in: transcript)
        #expect(!facts.isEmpty)
        for fact in facts {
            let words = Token.tokens(of: fact.text[...]).map(\.plain)
            for start in 0...max(0, words.count - 9) where words.count >= 9 {
                let run = Array(words[start..<(start + 9)])
                #expect(!said.indices.contains { said[$0...].starts(with: run) }, "\(run)")
            }
        }
    }

    @Test("every word of a noted fact was spoken or belongs to the note's voice")
    func nothingInvented() {
        let transcript = """
            I have had a bad cough for about two weeks and a mild fever since last night. I smoke. My father had diabetes.
            Take azithromycin 500 mg once a day for three days and stop smoking. See you in two weeks.
            """
        let heard = Set(Token.words(in: transcript[...]).map(\.plain)).union(NoteVoice.words)
        let facts = FactExtraction.facts(in: transcript)
        #expect(facts.count >= 6)
        for fact in facts {
            for word in Token.words(in: fact.text[...]) { #expect(heard.contains(word.plain), "\(word.plain)") }
        }
    }
}
