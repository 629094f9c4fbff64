import ScribeDomain

/// Extracts medical facts from a transcript, in the note's wording.
///
/// Clauses are read in order with the question before them: "Any fever?" and "No" make one statement. An ordered list
/// of rules reads each clause. Facts contain only what was said.
struct FactExtraction {
    /// Facts of a transcript in spoken order, without duplicates.
    static func facts(in transcript: String) -> [ClinicalFact] {
        let extraction = FactExtraction(transcript)
        return extraction.facts + extraction.medications.facts
    }

    init(_ transcript: String) {
        let clauses = Dialogue(transcript).clauses
        isThirdPerson = clauses.contains { $0.isGuest }
        for clause in ConditionalClauses.joined(clauses) { read(clause) }
    }

    /// Questions that wait for an answer.
    struct Asked {
        var clauses: [(tokens: [Token], terms: Terms)] = []
        /// Whether the questions go on with the family: "How about heart disease?"
        var isOfFamily = false

        func speaks(of words: Set<String>) -> Bool { clauses.contains { $0.tokens.contains(words) } }
        func has(_ kinds: Terms.Kinds) -> Bool { clauses.contains { $0.terms.has(kinds) } }
    }

    var facts: [ClinicalFact] = []
    /// Name of the rule that reads a clause.
    private(set) var rule = ""
    /// Names of the rules that have read a clause, or a part of one.
    private(set) var used: Set<String> = []
    private var seen: [ClinicalFact.Kind: Set<String>] = [:]
    var medications = MedicationList()
    /// Number of the clauses that were read, and the last one that named a medication.
    private(set) var clauseCount = 0
    var spokenClause = 0
    /// The clinician's last clause that named a part of the body and no medication.
    private(set) var bodyClause = -1
    /// The last clause in which another medication was to take the place of the last one.
    var replacing = -2
    var asked: Asked?
    /// Whether the last question was about the family.
    private var asksFamily = false
    /// Whether a companion speaks for the patient.
    var isThirdPerson = false
    /// Whether the clinician is examining the patient.
    var isExamining = false
    /// Whether the last person mentioned is not the patient, so that "she" means that person.
    var speaksOfOther = false
    /// Blood relative mentioned last.
    var relative: [Token] = []
    var hasChiefComplaint = false
    /// The name of the chief complaint.
    var chiefName = ""
    /// Turn of the chief complaint; the rest of the turn belongs to the complaint.
    var chiefTurn = -1

    // MARK: Facts

    mutating func add(
        _ kind: ClinicalFact.Kind, _ tokens: [Token], text: String? = nil, details: [String: String] = [:]
    ) {
        let isMeasured = [.result, .examination].contains(kind)
        let text = text ?? (isMeasured ? NoteVoice.withDigits(tokens, above: 9) : tokens).text
        guard !text.isEmpty, text.utf8.count > 2, seen[kind, default: []].insert(text.lowercased()).inserted else {
            return
        }
        facts.append(ClinicalFact(kind, text, details: details, source: tokens.source, rule: rule))
    }

    /// Reads a clause by an ordered list of rules.
    /// - Returns: whether one of them has read it to its end.
    @discardableResult
    mutating func apply(_ rules: [FactRule], to said: Utterance) -> Bool {
        var said = said
        if said.clause.speaker == .clinician, said.terms.has([.bodyPart, .procedure]), !said.terms.has(.drug) {
            bodyClause = clauseCount
        }
        for rule in rules {
            self.rule = rule.name
            let count = facts.count
            let isRead = rule.read(&self, &said)
            if isRead || facts.count > count { used.insert(rule.name) }
            if isRead { return true }
        }
        return false
    }

    /// Adds a complaint with its name and duration, as far as they were said.
    mutating func addComplaint(_ said: [Token], _ terms: Terms, as kind: ClinicalFact.Kind = .complaint) {
        var details: [String: String] = [:]
        details["name"] = (terms.first(.symptom) ?? terms.first([.condition, .bodyPart])).map {
            Array(said[$0.range]).text
        }
        for position in said.indices.dropFirst() {
            guard let end = MedicationMention.duration(in: said, at: position) else { continue }
            details["duration"] = Array(said[position..<end]).text
            break
        }
        if kind == .chiefComplaint, chiefName.isEmpty { chiefName = details["name"] ?? "" }
        add(kind, said, details: details)
    }

    // MARK: Reading

    private mutating func read(_ clause: Dialogue.Clause) {
        clauseCount += 1
        switch (clause.speaker, clause.act) {
        case (.clinician, .question): ask(clause)
        case (.clinician, _):
            if clause.act == .statement, clause.tokens.count > 2 || clause.isLabelled { speaksOfOther = false }
            readClinician(clause)
        case (.patient, .question): notice(medicationsIn: clause.tokens, Terms(clause.tokens))
        case (.patient, .denial): readDenial(clause)
        case (.patient, .agreement): readAgreement(clause)
        case (.patient, .statement): readStatement(clause)
        }
    }

    private static let reasons = Lexicon.phrases("questions/reasons")
    private static let openQuestions = Lexicon.phrases("questions/open-questions")

    private mutating func ask(_ clause: Dialogue.Clause) {
        let tokens = clause.tokens
        let terms = Terms(tokens)
        if apply([Self.reasonRule], to: Utterance(clause, tokens, terms)) { return }
        if let term = terms.first(.bloodRelative), !tokens[term.range].contains(where: { $0.plain == "family" }) {
            relative = Array(tokens[term.range])
            speaksOfOther = true
        }
        notice(medicationsIn: tokens, terms)
        let goesOn = ["how about", "what about", "any"].contains {
            tokens.map(\.plain).joined(separator: " ").hasPrefix($0)
        }
        asksFamily = terms.has(.bloodRelative) || asksFamily && goesOn && !tokens.contains(["you", "your"])
        if asked == nil || tokens.end(of: Self.openQuestions, at: 0) != nil { asked = Asked() }
        asked?.isOfFamily = asksFamily
        asked?.clauses.append((tokens, terms))
        // Longer lists are no questions.
        if let count = asked?.clauses.count, count > 12 { asked?.clauses.removeFirst() }
    }

    static let reasonRule = FactRule(
        "reason for the visit", "Doctor: You're here for your blood pressure check.",
        not: "Doctor: Your blood pressure is high."
    ) { notes, said in notes.readReason(said.clause) }

    private mutating func readReason(_ clause: Dialogue.Clause) -> Bool {
        guard !hasChiefComplaint,
            let position = clause.tokens.indices.first(where: { clause.tokens.end(of: Self.reasons, at: $0) != nil }),
            let end = clause.tokens.end(of: Self.reasons, at: position), end < clause.tokens.count
        else { return false }
        let reason = NoteVoice.ofClinician(Array(clause.tokens[end...].prefix(10)))
        let terms = Terms(reason)
        guard
            terms.has([.symptom, .condition, .bodyPart, .investigation, .procedure, .examination])
                || reason.contains([
                    "check", "check-up", "checkup", "review", "physical", "follow-up", "exam", "results", "visit",
                ])
        else { return false }
        hasChiefComplaint = true
        chiefTurn = clause.turn
        addComplaint(reason, terms, as: .chiefComplaint)
        return true
    }

    /// Notes the medications in a question, "And the ramipril?", for the statements after it.
    mutating func notice(medicationsIn tokens: [Token], _ terms: Terms) {
        for term in terms.all where !term.kinds.isDisjoint(with: .drug) {
            medications.speak(of: Array(tokens[term.range]).text)
            spokenClause = clauseCount
        }
    }
}
