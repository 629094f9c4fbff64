import ScribeDomain
import Testing

@testable import Engines

/// The last stage of a note: facts as sentences of a paragraph.
struct NoteSentencesTests {
    @Test(
        "a fact becomes a sentence by its first word",
        arguments: [
            (ClinicalFact(.complaint, "dry cough"), "The patient reports dry cough."),
            (ClinicalFact(.complaint, "has a dry cough"), "The patient has a dry cough."),
            (ClinicalFact(.presentIllness, "landed on the left wrist"), "The patient landed on the left wrist."),
            (ClinicalFact(.presentIllness, "increased thirst"), "The patient reports increased thirst."),
            (ClinicalFact(.presentIllness, "it started on Monday"), "It started on Monday."),
            (ClinicalFact(.examination, "chest is clear"), "Chest is clear."),
        ])
    func sentence(fact: ClinicalFact, text: String) {
        #expect(NoteSentences.paragraph([fact]) == text)
    }

    @Test("consecutive denials share a sentence, at most five")
    func denials() {
        let names = ["fever", "chills", "rash", "cough", "nausea", "vomiting"]
        let facts = names.map { ClinicalFact(.negative, "denies \($0)", details: ["name": $0]) }
        #expect(
            NoteSentences.paragraph(facts)
                == "The patient denies fever, chills, rash, cough or nausea. The patient denies vomiting.")
    }
}
