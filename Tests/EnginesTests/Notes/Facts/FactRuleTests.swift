import ScribeDomain
import Testing

@testable import Engines

/// The rules that read clauses, each by its own example.
struct FactRuleTests {
    @Test(
        "a rule reads a clause of its example and none of its counterexample",
        arguments: FactExtraction.rules.map(\.name))
    func example(name: String) throws {
        let rule = try #require(FactExtraction.rules.first { $0.name == name })
        #expect(FactExtraction(rule.example).used.contains(rule.name))
        #expect(!FactExtraction(rule.counterexample).used.contains(rule.name))
    }

    @Test("the names of rules differ")
    func names() {
        let names = FactExtraction.rules.map(\.name)
        #expect(Set(names).count == names.count)
    }

    @Test(
        "a statement names the rule that has read it",
        arguments: [
            ("Doctor: Any fever?\nPatient: No.", "denied symptom"),
            ("Patient: I take ramipril 5 mg.", "medicine"),
            ("Patient: I take ramipril 5 mg.\nDoctor: Change the ramipril to 10 mg.", "prescription"),
            ("Doctor: On examination the chest is clear.", "finding"),
        ])
    func statement(transcript: String, rule: String) {
        #expect(FactExtraction.facts(in: transcript).map(\.rule) == [rule])
    }

    @Test("a dictated statement names how its heading was found")
    func dictated() {
        let facts = Dictation.facts(in: "sore throat for two days full stop plan paracetamol 1 g")
        #expect(facts.map(\.rule) == ["implied heading", "spoken heading"])
    }
}

extension FactExtraction {
    /// All rules, list by list. Two lists begin with the reason for the visit.
    static let rules =
        clinicianRules + patientRules.filter { $0.name != reasonRule.name } + agreementRules
        + confirmationRules + denialRules
}
