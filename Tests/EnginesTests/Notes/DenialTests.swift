import ScribeDomain
import Testing

@testable import Engines

/// Denials, and statements about the family.
struct DenialTests {
    private func statements(_ kind: ClinicalFact.Kind, _ transcript: String) -> [String] {
        FactExtraction.facts(in: transcript).filter { $0.kind == kind }.map(\.text)
    }

    @Test("a denied habit is noted under social history, and a denied illness of relatives under family history")
    func kinds() {
        let transcript = """
            Doctor: Do you use tobacco? Any drugs?
            Patient: No, sir.
            Doctor: Are you married?
            Patient: No.
            Doctor: Does anyone in your family have heart disease?
            Patient: Not that I know of.
            """
        #expect(statements(.socialHistory, transcript) == ["denies use tobacco", "denies drugs", "not married"])
        #expect(statements(.familyHistory, transcript) == ["no one in the family have heart disease"])
        #expect(statements(.negative, transcript).isEmpty)
    }

    @Test(
        "a denial counts for a question in other words too",
        arguments: [
            (
                "And tell me, are you allergic to any medications?", ClinicalFact.Kind.allergy,
                "not allergic to any medications"
            ),
            ("Before I prescribe it, are you allergic to penicillin?", .allergy, "not allergic to penicillin"),
            ("Have you had any surgeries?", .negative, "denies surgeries"),
            ("Are you pregnant?", .negative, "not pregnant"),
            ("Any problems with your lungs?", .negative, "denies problems with lungs"),
        ])
    func asked(question: String, kind: ClinicalFact.Kind, expected: String) {
        #expect(statements(kind, "Doctor: \(question)\nPatient: No.") == [expected])
    }

    @Test("an answer that names one of several topics of the question denies that topic alone")
    func named() {
        let transcript = """
            Doctor: Any shortness of breath or palpitations?
            Patient: No palpitations, but I get a little breathless.
            Doctor: Any fever or chills?
            Patient: No fever, no chills.
            Doctor: Any nausea or vomiting?
            Patient: No.
            """
        #expect(
            statements(.negative, transcript)
                == ["denies palpitations", "denies fever", "denies chills", "denies nausea", "denies vomiting"])
    }

    @Test("a relative in the question is noted with the illness in the answer")
    func relatives() {
        let transcript = """
            Doctor: How is your father?
            Patient: He died of cancer.
            Doctor: Any illness that runs in the family?
            Patient: Almost everyone had diabetes.
            """
        #expect(
            statements(.familyHistory, transcript) == ["father died of cancer", "almost everyone had diabetes"])
    }

    @Test("a clinician who answers another clinician's question speaks for the patient")
    func handover() {
        let transcript = """
            Guest_clinician: Does the patient have any allergies?
            Doctor: She is allergic to penicillin.
            """
        #expect(statements(.allergy, transcript).count == 1)
    }
}
