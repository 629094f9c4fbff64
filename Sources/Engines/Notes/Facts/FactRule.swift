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

extension FactExtraction {
    /// All rules, list by list.
    static let rules =
        clinicianRules + patientRules.filter { $0.name != reasonRule.name } + agreementRules
        + confirmationRules + denialRules
}

/// Clause with what the rules ask about it. Each answer is found once.
struct Utterance {
    let clause: Dialogue.Clause
    let tokens: [Token]
    let terms: Terms
    /// Questions that the clause may answer.
    let questions: FactExtraction.Asked?
    /// Whether the clause is about the family.
    let isOfFamily: Bool

    init(
        _ clause: Dialogue.Clause, _ tokens: [Token], _ terms: Terms, answering questions: FactExtraction.Asked? = nil,
        isOfFamily: Bool = false
    ) {
        self.isOfFamily = isOfFamily
        self.clause = clause
        self.tokens = tokens
        self.terms = terms
        self.questions = questions
    }

    var asPatient: [Token] { NoteVoice.ofPatient(tokens, carries: clause.carriesSubject) }

    // MARK: Clinicians

    lazy var intends = tokens.contains(anyOf: FactExtraction.intents)
    lazy var orders = intends && tokens.contains(FactExtraction.ordering)
    lazy var isInstruction = FactExtraction.isInstruction(tokens)
    /// Whether a diagnosis is denied or left open. "Migraine without aura" is one.
    lazy var doubts =
        tokens.contains(anyOf: FactExtraction.doubting)
        || tokens[..<(terms.first(.condition)?.range.lowerBound ?? tokens.count)].contains { $0.plain == "without" }
    /// Whether the clause judges an illness: "it looks like a viral infection".
    lazy var judges =
        (terms.has([.condition]) || tokens.contains(["controlled", "uncontrolled"]) && terms.has(.symptom)
            || terms.has(.symptom) && tokens.contains(["likely", "sounds", "diagnosis"]))
        && tokens.contains(anyOf: FactExtraction.assessing) && !isInstruction && !terms.has(.bloodRelative)

    // MARK: Patients

    /// Whether the clause tells of medicines that the patient takes, so that words such as "iron" are medicines.
    lazy var isOfTaking =
        tokens.contains(FactExtraction.takings) || questions?.speaks(of: FactExtraction.takings) ?? false
        || questions?.has([.medication, .drugGroup]) ?? false
    lazy var namesMedicine = {
        guard isOfTaking || !tokens.contains(FactExtraction.hearsay) else { return false }
        return terms.has([.medication]) || isOfTaking && terms.has([.everydayMedication, .drugGroup])
            || !MedicationMention.all(in: tokens, terms, isTaken: isOfTaking).isEmpty
    }()
    /// Topics of the last question.
    lazy var topics = questions?.clauses.last.map { Topics.asked(in: $0.tokens) } ?? []
}
