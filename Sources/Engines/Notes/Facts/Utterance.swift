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
