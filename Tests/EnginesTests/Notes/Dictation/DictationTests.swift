import Foundation
import ScribeDomain
import TestSupport
import Testing
import Yams

@testable import Engines

@Suite("Dictated notes")
struct DictationTests {
    private func statements(_ text: String) -> [String] {
        Dictation.facts(in: text).map { "\($0.kind.rawValue): \($0.text)" }
    }

    @Test(
        "spoken punctuation, spelled names and corrections are commands, and no words of the note",
        arguments: [
            ("low mood comma poor sleep full stop tired", "low mood, poor sleep tired"),
            ("pain new line fever new paragraph cough period", "pain fever cough"),
            ("bisoprolol 2.5 mg no sorry bisoprolol 5 mg", "bisoprolol 5 mg"),
            ("sertraline 100 mg no sorry 50 mg once daily", "sertraline 50 mg once daily"),
            ("left knee correction right knee", "right knee"),
            ("metoprolol spelled m e t o p r o l o l 25 mg", "metoprolol 25 mg"),
            ("painful menstrual period for two days", "painful menstrual period for two days"),
            ("aspirin 75 mg correction clopidogrel 75 mg", "clopidogrel 75 mg"),
            ("amoxicillin 500 mg twice daily no sorry three times daily", "amoxicillin 500 mg three times daily"),
            ("ramipril 10 mg no wait 5 mg", "ramipril 5 mg"), ("feels rather low", "feels rather low"),
            ("potassium for correction of hypokalaemia", "potassium for correction of hypokalaemia"),
            ("impression question mark embolism", "impression query embolism"),
            ("missed period for 2 weeks", "missed period for 2 weeks"), ("left colon cancer", "left colon cancer"),
            ("carcinoma of the colon", "carcinoma of the colon"), ("adrenaline 0.5 mg im", "adrenaline 0.5 mg im"),
        ])
    func commands(text: String, shown: String) { #expect(DictatedWords(text).tokens.text == shown) }

    @Test(
        "statements stand under the headings that are spoken, or that their words imply",
        arguments: [
            (
                "impression unstable angina. plan ECG, troponin, aspirin 300 mg stat, admit under cardiology",
                [
                    "assessment: unstable angina", "investigation: ECG", "investigation: troponin",
                    "medication: aspirin 300 mg stat", "plan: admit under cardiology",
                ]
            ),
            (
                "the patient has headache and vomiting for five days plan ct head and paracetamol 1 g",
                [
                    "chief_complaint: the patient has headache and vomiting for five days", "investigation: ct head",
                    "medication: paracetamol 1 g",
                ]
            ),
            (
                "examination bp 128 over 84 chest clear impression no history of asthma follow up in two weeks",
                [
                    "vital: bp 128/84", "examination: chest clear", "assessment: no history of asthma",
                    "follow_up: follow up in two weeks",
                ]
            ),
            (
                "plan start ramipril 2.5 mg od scratch that increase amlodipine to 10 mg number two refer to cardiology",
                ["medication: increase amlodipine to 10 mg", "referral: refer to cardiology"]
            ),
            (
                "fell yesterday left wrist swollen full stop x ray shows a fracture full stop cast for 6 weeks",
                [
                    "chief_complaint: fell yesterday", "examination: left wrist swollen",
                    "result: x ray shows a fracture", "plan: cast for 6 weeks",
                ]
            ),
            ("allergies no known drug allergies", ["allergy: no known drug allergies"]),
            (
                "plan avoid ibuprofen decrease furosemide to 20 mg withhold metformin",
                [
                    "advice: avoid ibuprofen", "medication: decrease furosemide to 20 mg",
                    "medication: withhold metformin",
                ]
            ),
            (
                "lady on metformin 500 mg for diabetes now has burning feet impression neuropathy",
                [
                    "chief_complaint: lady on metformin 500 mg for diabetes now has burning feet",
                    "assessment: neuropathy",
                ]
            ),
            (
                "Chief complaint: fever\nExamination: throat red\nImpression: tonsillitis",
                ["chief_complaint: fever", "examination: throat red", "assessment: tonsillitis"]
            ),
            (
                "complaints cough for three days with fever yesterday scratch that no fever",
                ["chief_complaint: cough for three days no fever"]
            ),
            (
                "vitals spo2 97 on room air pulse 88 per minute",
                ["vital: spo2 97 on room air", "vital: pulse 88 per minute"]
            ),
            ("examination ulcer three by two centimetres", ["examination: ulcer three by two centimetres"]),
            ("history peanut allergy in childhood", ["present_illness: peanut allergy in childhood"]),
        ])
    func headings(text: String, expected: [String]) { #expect(statements(text) == expected) }

    @Test(
        "commands and headings alone make no statement, and nothing traps",
        arguments: [
            "", "scratch that", "plan", "number one", "full stop comma", "spelled", "no sorry", "follow up", "\u{0}",
            "plan scratch that scratch that", "plan two-two of aspirin 5 mg",
            "plan one thousand thousand thousand thousand thousand thousand thousand thousand tablets",
            "plan hundred-hundred-hundred-hundred-hundred-hundred-hundred-hundred-hundred-hundred-hundred",
        ])
    func empty(text: String) {
        for fact in Dictation.facts(in: text) + FactExtraction.facts(in: "I take ramipril \(text).") {
            #expect(!fact.text.isEmpty)
        }
    }

    @Test("a conversation is read as one, whatever the mode says")
    func conversation() {
        for text in [
            "Doctor: What brings you in?\nPatient: I have had a fever for three days.",
            "what brings you in today? i have a cough. how long have you had it? for three days",
        ] {
            #expect(Dictation.facts(in: text) == FactExtraction.facts(in: text))
        }
    }

    @Test("each statement has its place in the transcript")
    func sources() {
        let text = "complaints fever for 3 days full stop plan paracetamol 500 mg"
        #expect(
            Dictation.facts(in: text).map { $0.source.map { String(text[$0]) } } == [
                "fever for 3 days", "paracetamol 500 mg",
            ])
    }

    // MARK: Forty notes

    private struct Note: Decodable {
        struct Expectation: Decodable {
            let section: String
            let words: [Words]
        }

        /// A word, or alternatives of which one must be there.
        enum Words: Decodable {
            case any([String])

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                self = .any(try (try? container.decode([String].self)) ?? [container.decode(String.self)])
            }

            func areIn(_ text: String) -> Bool {
                guard case .any(let words) = self else { return false }
                return words.contains { text.contains($0.lowercased()) }
            }
        }

        let id: String
        let split: String
        let text: String
        let expect: [Expectation]
        let forbid: [[String]]?
    }

    private static let illness: Set<ClinicalFact.Kind> = [.chiefComplaint, .complaint, .presentIllness]
    /// The kinds of facts that are looked through for a section.
    private static let kinds: [String: Set<ClinicalFact.Kind>] = [
        "complaint": illness, "history": illness.union([.negative, .medicalHistory]),
        "past_history": [.medicalHistory, .surgicalHistory, .history], "medications": [.medication],
        "allergies": [.allergy], "family_history": [.familyHistory], "social_history": [.socialHistory],
        "vitals": [.vital], "examination": [.examination, .vital, .result],
        "investigations": [.result, .investigation, .examination], "assessment": [.assessment],
        "plan": [.plan, .medication, .investigation, .referral, .advice, .followUp, .returnPrecaution],
        "follow_up": [.followUp, .plan, .referral],
    ]

    @Test("dictated notes have the statements that are expected of them", arguments: [("open", 0.97), ("unread", 0.9)])
    func measure(split: String, floor: Double) throws {
        let file = projectFile("Tests/Notes/dictation.yaml")
        let notes = try YAMLDecoder().decode([Note].self, from: String(contentsOf: file, encoding: .utf8))
            .filter { $0.split == split }
        #expect(notes.count > 10)
        var (found, expected, violations) = (0, 0, 0)
        for note in notes {
            let facts = Dictation.facts(in: note.text).map { ($0.kind, $0.text.lowercased()) }
            expected += note.expect.count
            found +=
                note.expect.filter { expectation in
                    facts.contains { kind, text in
                        Self.kinds[expectation.section]?.contains(kind) == true
                            && expectation.words.allSatisfy { $0.areIn(text) }
                    }
                }.count
            violations +=
                (note.forbid ?? []).filter { words in
                    facts.contains { _, text in words.allSatisfy { text.contains($0.lowercased()) } }
                }.count
        }
        print("dictation, \(split): \(found) of \(expected) found, \(violations) told that must not be")
        #expect(Double(found) >= floor * Double(expected))
        #expect(violations == 0)
    }
}
