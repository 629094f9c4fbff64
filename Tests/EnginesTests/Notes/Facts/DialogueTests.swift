import Testing

@testable import Engines

/// The fourth stage of a note: what each clause does, and who says it.
struct DialogueTests {
    @Test("a clause asks, tells, agrees or denies")
    func acts() {
        let clauses = Dialogue("Doctor: Any fever?\nPatient: No. I have a cough.\nDoctor: Any phlegm?\nPatient: Yes.")
            .clauses
        #expect(clauses.map(\.act) == [.question, .denial, .statement, .question, .agreement])
    }

    @Test("without labels the speaker who asks and instructs is the clinician")
    func speakers() {
        let said = "any fever no i have a cough okay so your blood pressure is fine take paracetamol"
        #expect(
            Dialogue(said).clauses.map(\.speaker)
                == [.clinician, .patient, .patient, .clinician, .clinician, .clinician])
    }

    @Test("a tag makes a question of the statement before it")
    func tags() {
        #expect(Dialogue("Doctor: You're not getting any chest pain, are you?").clauses.map(\.act) == [.question])
    }
}
