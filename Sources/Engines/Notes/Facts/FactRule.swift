import ScribeDomain

/// Rule for clauses of one kind. The first rule of an ordered list that has read a clause is the last to see it.
struct FactRule: Sendable {
    typealias Condition = @Sendable (_ notes: inout FactExtraction, _ said: inout Utterance) -> Bool

    /// Name of the rule, as `note --explain` prints it.
    let name: String
    /// Transcript in which the rule reads a clause.
    let example: String
    /// Transcript like the example, in which it reads none.
    let counterexample: String
    /// Reads a clause into facts; true if no other rule is to read it.
    let read: @Sendable (_ notes: inout FactExtraction, _ said: inout Utterance) -> Bool

    init(
        _ name: String, _ example: String, not counterexample: String,
        read: @escaping @Sendable (_ notes: inout FactExtraction, _ said: inout Utterance) -> Bool
    ) {
        self.name = name
        self.example = example
        self.counterexample = counterexample
        self.read = read
    }

    /// Rule that adds a clinician's clause as one fact.
    static func clinician(
        _ name: String, adds kind: ClinicalFact.Kind, _ example: String, not counterexample: String,
        if applies: @escaping Condition
    ) -> FactRule {
        FactRule(name, example, not: counterexample) { notes, said in
            guard applies(&notes, &said) else { return false }
            notes.add(kind, NoteVoice.ofClinician(said.tokens))
            return true
        }
    }

    /// Rule that adds a patient's clause as one fact.
    static func patient(
        _ name: String, adds kind: ClinicalFact.Kind, _ example: String, not counterexample: String,
        if applies: @escaping Condition
    ) -> FactRule {
        FactRule(name, example, not: counterexample) { notes, said in
            guard applies(&notes, &said) else { return false }
            notes.add(kind, said.asPatient)
            return true
        }
    }

    /// Rule that leaves a clause out of the note.
    static func none(
        _ name: String, _ example: String, not counterexample: String, if applies: @escaping Condition
    ) -> FactRule {
        FactRule(name, example, not: counterexample) { notes, said in applies(&notes, &said) }
    }
}
