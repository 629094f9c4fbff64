import ScribeDomain

/// Extracts facts from clinicians' clauses, such as findings, test results, prescriptions, assessments and advice.
extension FactExtraction {
    private static let followUps = Lexicon.phrases("clinician/follow-ups")
    private static let referrals = Lexicon.set("clinician/referrals")
    private static let ordering = Lexicon.set("clinician/ordering")
    private static let intents = Lexicon.phrases("clinician/intents")
    private static let outcomes = Lexicon.set("clinician/outcomes")
    private static let assessing = Lexicon.phrases("clinician/assessing")
    private static let doubting = Lexicon.phrases("clinician/doubting")
    private static let records = Lexicon.set("clinician/records")
    private static let ages = PhraseBook(["year old", "years old"])
    /// Phrases by which a clause that begins with `I` instructs the patient: "I want you to rest."
    private static let wishes = PhraseBook(["you to", "him to", "her to", "have you"])
    private static let advising = Lexicon.set("clinician/advising")
    private static let advisingPhrases = Lexicon.phrases("clinician/advising-phrases")
    private static let examining = Lexicon.phrases("clinician/examining")
    private static let finding = Lexicon.set("clinician/finding")

    /// Adds the facts of a clinician's clause.
    mutating func readClinician(_ clause: Dialogue.Clause) {
        // A clinician who continues after a question no longer waits for an answer.
        let tokens = NoteVoice.withoutIdle(clause.tokens)
        guard tokens.count > 1 else { return notice(medicationsIn: tokens, Terms(tokens)) }
        let terms = Terms(tokens)
        if asked != nil, tokens.count > 6 || terms.has([.examination, .investigation, .medication]) { asked = nil }
        if readReason(clause) || ignores(tokens) { return }
        // In an unlabelled transcript, a denial of symptoms or a statement about relatives counts as the patient's.
        if !clause.isLabelled, !isExamining,
            terms.has(.bloodRelative) || clause.act == .denial && terms.has([.symptom, .condition])
        {
            return readStatement(clause)
        }
        if tokens.contains(anyOf: Self.examining) {
            isExamining = true
            if tokens.contains(["let", "i'll"]), !tokens.contains(["is", "are", "there's"]) { return }
            if terms.all.count < 3, !tokens.contains(Self.finding) { return }
        }
        if ReturnPrecaution.isOne(tokens), !(tokens.contains(anyOf: Self.followUps) && hasTime(tokens)) {
            return add(.returnPrecaution, NoteVoice.ofClinician(tokens))
        }
        // "I'll put trimethoprim down as an allergy."
        if tokens.contains(["allergic", "allergy"]), terms.has([.medication, .allergen, .drugGroup]),
            !tokens.contains(["if", "no", "not", "any"])
        {
            add(.allergy, NoteVoice.ofClinician(tokens))
            guard terms.has(.condition), tokens.contains(anyOf: Self.assessing) else { return }
        }
        var rest = tokens
        let vitals = VitalSign.all(in: tokens)
        if !vitals.isEmpty {
            for sign in vitals { add(.vital, Array(tokens[sign.range]), text: sign.text) }
            isExamining = true
            rest = Self.without(vitals.map(\.range), in: tokens)
            guard rest.count > 3 else { return }
        }
        readFindings(rest, vitals.isEmpty ? terms : Terms(rest), clause)
    }

    /// Removes ranges of tokens, and then idle words at the beginning.
    private static func without(_ ranges: [Range<Int>], in tokens: [Token]) -> [Token] {
        var rest = tokens
        for range in ranges.reversed() { rest.removeSubrange(range) }
        return NoteVoice.withoutIdle(rest)
    }

    private static let courtesies = Lexicon.phrases("clinician/courtesies")

    /// Whether a clause is a courtesy, which no note contains.
    private func ignores(_ tokens: [Token]) -> Bool {
        if tokens.contains(anyOf: Self.courtesies) { return true }
        return tokens.contains([
            "wonderful", "thank", "thanks", "congratulations", "welcome", "sorry", "joking", "hello", "hi", "bye",
            "nice",
        ])
            && tokens.count < 8
    }

    /// Whether a clause names a weekday, `tomorrow`, or a unit of time.
    private func hasTime(_ tokens: [Token]) -> Bool {
        tokens.contains {
            Numbers.units.contains($0.plain) || Numbers.weekdays.contains($0.plain) || $0.plain == "tomorrow"
        }
    }

    /// Tries the kinds of facts in a fixed order, from a follow-up to earlier history, and adds the first that fits.
    private mutating func readFindings(_ tokens: [Token], _ terms: Terms, _ clause: Dialogue.Clause) {
        let intends = tokens.contains(anyOf: Self.intents)
        if tokens.contains(anyOf: Self.followUps), hasTime(tokens) || tokens.count < 9, !terms.has(.medication) {
            return add(.followUp, NoteVoice.ofClinician(tokens))
        }
        let orders = intends && tokens.contains(Self.ordering)
        if tokens.contains(Self.referrals) || orders && terms.has(.specialty) && !terms.has(.investigation) {
            return add(.referral, NoteVoice.ofClinician(tokens))
        }
        // "Hold the metformin until the scan is done."
        let isPrescription =
            terms.first(.medication)?.range.lowerBound ?? tokens.count
            < terms.first(.investigation)?.range.lowerBound ?? 0
        if isPrescription, isInstruction(tokens), readPrescription(tokens, terms) { return }
        if terms.has(.investigation) {
            let first = terms.first(.investigation)?.range.upperBound ?? 0
            let tells = tokens[first...].prefix(6).contains { Self.outcomes.contains($0.plain) }
            if tells, !(intends && orders) || tokens.contains(["showed", "shows", "normal", "came"]) {
                return add(.result, NoteVoice.ofClinician(tokens))
            }
            if orders || tokens.contains(["order", "check", "repeat"]) {
                return add(.investigation, NoteVoice.ofClinician(tokens))
            }
        }
        if readPrescription(tokens, terms) { return }
        // "Migraine without aura" is a diagnosis.
        if Self.isImmunization(tokens) { return add(.medicalHistory, NoteVoice.ofClinician(tokens)) }
        let doubts =
            tokens.contains(anyOf: Self.doubting)
            || tokens[..<(terms.first(.condition)?.range.lowerBound ?? tokens.count)].contains { $0.plain == "without" }
        // "I see in your chart that you have asthma."
        if terms.has(.condition), !terms.has(.symptom), tokens.contains(Self.records), !doubts, !intends {
            return add(.medicalHistory, NoteVoice.ofClinician(tokens))
        }
        if terms.has([.condition]) || tokens.contains(["controlled", "uncontrolled"]) && terms.has(.symptom)
            || terms.has(.symptom) && tokens.contains(["likely", "sounds", "diagnosis"]),
            tokens.contains(anyOf: Self.assessing), !isInstruction(tokens), !terms.has(.bloodRelative)
        {
            if tokens.contains(["history"]), !tokens.contains(["controlled"]) {
                return add(.medicalHistory, NoteVoice.ofClinician(tokens))
            }
            if !doubts || tokens.contains(["controlled"]) { return add(.assessment, NoteVoice.ofClinician(tokens)) }
            // An absent finding is no diagnosis.
            if tokens.matches(["there", "is", "no", "sign"], at: 0) {
                return add(.examination, NoteVoice.ofClinician(tokens))
            }
            if !isExamining || !terms.has(.examination) { return }
        }
        let isFinding = terms.has(.examination) || terms.has([.bodyPart, .symptom, .bodyComplaint]) && isExamining
        if isFinding, !isInstruction(tokens), !intends || isExamining, tokens.contains(Self.finding) || isExamining,
            !tokens.contains(["if", "because"])
        {
            return add(.examination, NoteVoice.ofClinician(tokens))
        }
        if isInstruction(tokens) || tokens.contains(anyOf: Self.advisingPhrases) {
            let said = NoteVoice.ofClinician(tokens)
            guard said.count > 1 || Self.advising.contains(said.first?.plain ?? ""),
                !tokens.contains(["question", "questions", "seat", "sit", "shirt", "breath", "ah"])
            else { return }
            return add(.advice, said)
        }
        if intends, tokens.count > 3, terms.all.count > 0 { return add(.plan, NoteVoice.ofClinician(tokens)) }
        if tokens.contains(anyOf: Self.ages) || tokens.contains(where: { $0.plain.hasSuffix("year-old") }) {
            return add(.presentIllness, NoteVoice.finished(tokens, by: .clinician))
        }
        // "I know that you have had this pain": earlier history.
        if tokens.contains(["you", "you've", "you're", "your", "he", "she"]),
            terms.has([.symptom, .condition, .medication, .procedure]), !doubts
        {
            add(terms.has(.procedure) ? .surgicalHistory : .presentIllness, NoteVoice.ofClinician(tokens))
        }
    }

    private static let immunizations = Lexicon.set("clinician/immunizations")

    /// Whether a clause tells that immunizations are done: "his vaccinations are up to date".
    static func isImmunization(_ tokens: [Token]) -> Bool {
        tokens.contains(immunizations) && tokens.contains(["date", "current", "done", "complete", "had", "all"])
            && !tokens.contains(["if", "should", "need", "needs"])
    }

    /// Whether a clause tells the patient what to do.
    private func isInstruction(_ tokens: [Token]) -> Bool {
        guard let first = NoteVoice.ofClinician(tokens).first ?? tokens.first else { return false }
        let opening = tokens.first {
            ![
                "please", "just", "and", "so", "then", "do", "you", "should", "need", "to", "try", "can", "i", "want",
                "must", "also", "but", "i'd",
            ].contains($0.plain)
        }
        // "I don't think so", "let me have a look"
        let rest = tokens.map(\.plain)
        if let index = rest.firstIndex(of: "don't"), index + 1 < rest.count,
            ["think", "see", "know", "need", "worry", "want", "believe", "have", "hear", "feel", "mind"].contains(
                rest[index + 1])
        {
            return false
        }
        if rest.contains("let"), rest.contains("me") { return false }
        // "I will write" is no instruction to the patient.
        if ["i", "i'll", "we", "we'll", "i'm", "we're"].contains(rest[0]), !tokens.contains(anyOf: Self.wishes) {
            return false
        }
        return Self.advising.contains(opening?.plain ?? "") && opening?.plain != "no" && opening?.plain != "not"
            || Self.advising.contains(first.plain) && first.plain != "no" && first.plain != "not"
                && first.plain != "get"
    }
}
