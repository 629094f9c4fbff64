import ScribeDomain

/// Extracts facts from clinicians' clauses, such as findings, test results, prescriptions, assessments and advice.
extension FactExtraction {
    private static let followUps = Lexicon.phrases("clinician/follow-ups")
    private static let referrals = Lexicon.set("clinician/referrals")
    static let ordering = Lexicon.set("clinician/ordering")
    static let intents = Lexicon.phrases("clinician/intents")
    private static let outcomes = Lexicon.set("clinician/outcomes")
    static let assessing = Lexicon.phrases("clinician/assessing")
    static let doubting = Lexicon.phrases("clinician/doubting")
    private static let records = Lexicon.set("clinician/records")
    private static let ages = PhraseBook(["year old", "years old"])
    /// Phrases by which a clause that begins with `I` instructs the patient: "I want you to rest."
    private static let wishes = PhraseBook(["you to", "him to", "her to", "have you"])
    private static let advising = Lexicon.set("clinician/advising")
    private static let advisingPhrases = Lexicon.phrases("clinician/advising-phrases")
    private static let examining = Lexicon.phrases("clinician/examining")
    private static let finding = Lexicon.set("clinician/finding")
    private static let courtesies = Lexicon.phrases("clinician/courtesies")
    private static let forgone = Lexicon.set("clinician/forgone")
    private static let polite = Lexicon.set("clinician/polite")
    private static let immunizations = Lexicon.set("clinician/immunizations")

    /// Reads a clinician's clause by ``clinicianRules``.
    mutating func readClinician(_ clause: Dialogue.Clause) {
        // A clinician who continues after a question no longer waits for an answer.
        let tokens = NoteVoice.withoutIdle(clause.tokens)
        guard tokens.count > 1 || tokens.first?.plain == "rest" else {
            return notice(medicationsIn: tokens, Terms(tokens))
        }
        let terms = Terms(tokens)
        if asked != nil, tokens.count > 6 || terms.has([.examination, .investigation, .medication]) { asked = nil }
        apply(Self.clinicianRules, to: Utterance(clause, tokens, terms))
    }

    static let clinicianRules: [FactRule] = [
        reasonRule,
        .none("courtesy", "Doctor: Nice to see you, take a seat.", not: "Doctor: Take a break from running.") {
            _, said in
            said.tokens.contains(anyOf: courtesies) || said.tokens.count < 8 && said.tokens.contains(polite)
        },
        // In an unlabelled transcript, a denial of symptoms or a statement about relatives counts as the patient's.
        FactRule(
            "patient's words without a label", "your mother had diabetes", not: "Doctor: Your mother had diabetes."
        ) { notes, said in
            guard !said.clause.isLabelled, !notes.isExamining,
                said.terms.has(.bloodRelative) || said.clause.act == .denial && said.terms.has([.symptom, .condition])
            else { return false }
            notes.readStatement(said.clause)
            return true
        },
        FactRule(
            "begin of the examination", "Doctor: Let me have a look at your knee.",
            not: "Doctor: On examination the chest is clear."
        ) { notes, said in
            let tokens = said.tokens
            guard tokens.contains(anyOf: examining) else { return false }
            notes.isExamining = true
            if tokens.contains(["let", "i'll"]), !tokens.contains(["is", "are", "there's"]) { return true }
            return said.terms.all.count < 3 && !tokens.contains(finding)
        },
        .clinician(
            "return precaution", adds: .returnPrecaution, "Doctor: If the pain comes at rest, ring 999.",
            not: "Doctor: Come back in two weeks if it is no better."
        ) { _, said in
            ReturnPrecaution.isOne(said.tokens) && !(said.tokens.contains(anyOf: followUps) && hasTime(said.tokens))
        },
        FactRule(
            "allergy in the record", "Doctor: I'll put trimethoprim down as an allergy.",
            not: "Doctor: There's no allergy to trimethoprim."
        ) { notes, said in
            guard said.tokens.contains(["allergic", "allergy"]), said.terms.has([.medication, .allergen, .drugGroup]),
                !said.tokens.contains(["if", "no", "not", "any"])
            else { return false }
            notes.add(.allergy, NoteVoice.ofClinician(said.tokens))
            return !said.terms.has(.condition) || !said.tokens.contains(anyOf: assessing)
        },
        // The rest of the clause is read by the rules below.
        FactRule("vital sign", "Doctor: Your pulse is 88.", not: "Doctor: I'll check your pulse.") { notes, said in
            let vitals = VitalSign.all(in: said.tokens)
            guard !vitals.isEmpty else { return false }
            for sign in vitals { notes.add(.vital, Array(said.tokens[sign.range]), text: sign.text) }
            notes.isExamining = true
            let rest = without(vitals.map(\.range), in: said.tokens)
            guard rest.count > 3 else { return true }
            said = Utterance(said.clause, rest, Terms(rest))
            return false
        },
        .clinician(
            "follow-up", adds: .followUp, "Doctor: I'll see you in two weeks.", not: "Doctor: I'll see what I can find."
        ) { _, said in
            said.tokens.contains(anyOf: followUps) && (hasTime(said.tokens) || said.tokens.count < 9)
                && !said.terms.has(.medication)
        },
        .clinician(
            "referral", adds: .referral, "Doctor: I'm referring you to cardiology.",
            not: "Doctor: The cardiology ward is upstairs."
        ) { _, said in
            said.tokens.contains(referrals)
                || said.terms.has(.specialty) && !said.terms.has(.investigation) && said.orders
        },
        FactRule(
            "medicine until a test", "Doctor: Hold the metformin until the scan is done.",
            not: "Doctor: The scan was normal, so hold the metformin."
        ) { notes, said in
            let (medication, test) = (said.terms.first(.medication), said.terms.first(.investigation))
            return medication?.range.lowerBound ?? said.tokens.count < test?.range.lowerBound ?? 0
                && said.isInstruction
                && notes.readPrescription(said.tokens, said.terms, isLabelled: said.clause.isLabelled)
        },
        .clinician(
            "result of a test", adds: .result, "Doctor: Your chest X-ray was normal.",
            not: "Doctor: I'll order a chest X-ray."
        ) { _, said in
            guard let test = said.terms.first(.investigation) else { return false }
            return said.tokens[test.range.upperBound...].prefix(6).contains { outcomes.contains($0.plain) }
                && (!said.orders || said.tokens.contains(["showed", "shows", "normal", "came"]))
        },
        .clinician(
            "order of a test", adds: .investigation, "Doctor: I'll order a chest X-ray.",
            not: "Doctor: Your chest X-ray was normal."
        ) { _, said in
            said.terms.has(.investigation) && (said.orders || said.tokens.contains(["order", "check", "repeat"]))
        },
        FactRule(
            "prescription", "Doctor: Take amoxicillin 500 mg three times a day.",
            not: "Doctor: Drink plenty of water."
        ) { notes, said in notes.readPrescription(said.tokens, said.terms, isLabelled: said.clause.isLabelled) },
        .clinician(
            "vaccinations of the record", adds: .medicalHistory, "Doctor: His vaccinations are up to date.",
            not: "Doctor: He needs his vaccinations."
        ) { _, said in isImmunization(said.tokens) },
        .clinician(
            "illness in the record", adds: .medicalHistory, "Doctor: I see in your chart that you have asthma.",
            not: "Doctor: I think you have asthma."
        ) { _, said in
            said.terms.has(.condition) && !said.terms.has(.symptom) && said.tokens.contains(records) && !said.doubts
                && !said.intends
        },
        .clinician(
            "illness that the clinician recalls", adds: .medicalHistory, "Doctor: You have a history of asthma.",
            not: "Doctor: You have asthma."
        ) { _, said in said.judges && said.tokens.contains(["history"]) && !said.tokens.contains(["controlled"]) },
        .clinician(
            "assessment", adds: .assessment, "Doctor: This looks like a viral infection.",
            not: "Doctor: This is not a viral infection."
        ) { _, said in said.judges && (said.tokens.contains(["controlled"]) || !said.doubts) },
        .clinician(
            "absent sign", adds: .examination, "Doctor: There is no sign of pneumonia.",
            not: "Doctor: I don't think it is pneumonia."
        ) { _, said in said.judges && said.tokens.matches(["there", "is", "no", "sign"], at: 0) },
        .none(
            "doubted diagnosis", "Doctor: I don't think it is pneumonia.", not: "Doctor: I think it is pneumonia."
        ) { notes, said in said.judges && (!notes.isExamining || !said.terms.has(.examination)) },
        .clinician(
            "finding", adds: .examination, "Doctor: The chest is clear.",
            not: "Doctor: Put some ice on the knee."
        ) { notes, said in
            (said.terms.has(.examination)
                || notes.isExamining && said.terms.has([.bodyPart, .symptom, .bodyComplaint]))
                && !said.isInstruction && (notes.isExamining || !said.intends && said.tokens.contains(finding))
                && !said.tokens.contains(["if", "because"])
        },
        .clinician(
            "abstention", adds: .advice, "Doctor: No netball for six weeks.", not: "Doctor: No cough for six weeks."
        ) { _, said in
            guard said.clause.isLabelled, said.tokens.first?.plain == "no", said.tokens[0].pause == .none,
                (2..<9).contains(said.tokens.count),
                !said.terms.has([.symptom, .condition, .examination, .bodyPart, .bodyComplaint, .drug, .investigation])
            else { return false }
            return said.tokens.contains(forgone)
                || said.tokens.contains(["for", "until"]) && hasTime(said.tokens)
        },
        FactRule("advice", "Doctor: Drink plenty of water.", not: "Doctor: I'll write you a letter.") { notes, said in
            guard said.isInstruction || said.tokens.contains(anyOf: advisingPhrases) else { return false }
            let text = NoteVoice.ofClinician(said.tokens)
            if text.count > 1 || advising.contains(text.first?.plain ?? ""),
                !said.tokens.contains(["question", "questions", "seat", "sit", "shirt", "breath", "ah"])
                    || text.first?.plain == "not" || text.matches(["do", "not"], at: 0)
            {
                notes.add(.advice, text)
            }
            return true
        },
        .clinician(
            "plan", adds: .plan, "Doctor: We'll talk about surgery for the knee.",
            not: "Doctor: We'll talk about it."
        ) { _, said in said.intends && said.tokens.count > 3 && !said.terms.all.isEmpty },
        FactRule(
            "age", "Doctor: She's a sixty year old teacher.", not: "Doctor: That was a year ago."
        ) { notes, said in
            guard said.tokens.contains(anyOf: ages) || said.tokens.contains(where: { $0.plain.hasSuffix("year-old") })
            else { return false }
            notes.add(.presentIllness, NoteVoice.finished(said.tokens, by: .clinician))
            return true
        },
        FactRule(
            "story that the clinician retells", "Doctor: You had this pain last year too.",
            not: "Doctor: That pain is common."
        ) { notes, said in
            guard said.tokens.contains(["you", "you've", "you're", "your", "he", "she"]),
                said.terms.has([.symptom, .condition, .medication, .procedure]), !said.doubts
            else { return false }
            notes.add(
                said.terms.has(.procedure) ? .surgicalHistory : .presentIllness, NoteVoice.ofClinician(said.tokens))
            return true
        },
    ]

    /// Removes ranges of tokens, and then idle words at the beginning.
    private static func without(_ ranges: [Range<Int>], in tokens: [Token]) -> [Token] {
        var rest = tokens
        for range in ranges.reversed() { rest.removeSubrange(range) }
        return NoteVoice.withoutIdle(rest)
    }

    /// Whether a clause names a weekday, `tomorrow`, or a unit of time.
    private static func hasTime(_ tokens: [Token]) -> Bool {
        tokens.contains {
            Numbers.units.contains($0.plain) || Numbers.weekdays.contains($0.plain) || $0.plain == "tomorrow"
        }
    }

    /// Whether a clause tells that immunizations are done: "his vaccinations are up to date".
    static func isImmunization(_ tokens: [Token]) -> Bool {
        tokens.contains(immunizations) && tokens.contains(["date", "current", "done", "complete", "had", "all"])
            && !tokens.contains(["if", "should", "need", "needs"])
    }

    private static let beforeVerbs = Lexicon.set("clinician/before-verbs")
    private static let unadvised = Lexicon.set("clinician/unadvised")

    /// Whether a clause tells the patient what to do.
    static func isInstruction(_ tokens: [Token]) -> Bool {
        guard let first = NoteVoice.ofClinician(tokens).first ?? tokens.first else { return false }
        let opening = tokens.first { !beforeVerbs.contains($0.plain) }
        // "I don't think so", "let me have a look"
        let rest = tokens.map(\.plain)
        if let index = rest.firstIndex(of: "don't"), index + 1 < rest.count, unadvised.contains(rest[index + 1]) {
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
