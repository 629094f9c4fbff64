import Basics
import ScribeDomain

/// Extracts facts from the clauses of patients and their companions.
extension FactExtraction {
    /// "Can't" tells a complaint: "I can't sleep."
    static let negations = Lexicon.negations.union(["none", "nothing"])
        .subtracting(["can't", "cannot", "couldn't", "won't", "wouldn't"])
    private static let reporting = Lexicon.set("patient/reporting")
    private static let chronic = Lexicon.set("patient/chronic")
    private static let histories = PhraseBook(["diagnosed", "history of"])
    private static let surgical = Lexicon.set("patient/surgical")
    static let allergic = Lexicon.phrases("patient/allergic")
    static let takings = Lexicon.set("patient/takings")
    private static let ended = Lexicon.phrases("patient/ended")
    static let hearsay = Lexicon.set("patient/hearsay")
    private static let notTaken = Lexicon.phrases("patient/not-taken")

    /// Reads a patient's clause by ``patientRules``.
    mutating func readStatement(_ clause: Dialogue.Clause, answering earlier: Asked? = nil) {
        let questions = earlier ?? asked
        asked = nil
        let tokens = Self.named(NoteVoice.withoutIdle(clause.tokens), by: questions?.clauses.last)
        let terms = Terms(tokens)
        guard
            tokens.count > 1 || questions != nil || terms.has(.medication)
                || clause.isLabelled && terms.has([.symptom, .condition])
        else { return }
        apply(Self.patientRules, to: Utterance(clause, tokens, terms, answering: questions))
    }

    static let patientRules: [FactRule] = [
        FactRule(
            "rest of a medicine", "Patient: I take ibuprofen.\nPatient: Two tablets.",
            not: "Patient: I have a headache.\nPatient: Two tablets."
        ) { notes, said in
            guard said.tokens.count <= 9, let fragment = MedicationMention.fragment(said.tokens) else { return false }
            // "How much of it are you taking?" – "Ten milligrams."
            let isAsked = said.questions?.speaks(of: Self.takings.union(["much", "dose"])) ?? false
            return notes.medications.complete(with: fragment, isAsked: isAsked, by: notes.rule)
        },
        reasonRule,
        .none(
            "other patients", "Patient: Other patients get a fever from it.", not: "Patient: I get a fever from it."
        ) { notes, said in said.tokens.contains(["patient", "patients"]) && !notes.isThirdPerson },
        FactRule(
            "another person", "Patient: My father had diabetes.", not: "Patient: My father says I have diabetes."
        ) { notes, said in
            if notes.isOfOther(said.tokens, said.terms) {
                notes.readOther(said.tokens, said.terms, answering: said.questions)
                notes.notice(medicationsIn: said.tokens, said.terms)
                return true
            }
            notes.speaksOfOther = false
            notes.relative = []
            return false
        },
        .patient(
            "illness in the family", adds: .familyHistory,
            "Doctor: Does anything run in your family?\nPatient: Almost everyone had diabetes.",
            not: "Doctor: Does anything run in your family?\nPatient: I had diabetes."
        ) { _, said in
            said.questions?.has(.bloodRelative) ?? false && said.terms.has(.condition)
                && !said.tokens.contains(["i", "i'm", "i've", "my"]) && !said.tokens.contains(negations)
        },
        .patient(
            "vaccinations", adds: .medicalHistory, "Patient: I had all my vaccinations.",
            not: "Patient: I need my vaccinations."
        ) { _, said in isImmunization(said.tokens) && !said.tokens.contains(negations) },
        FactRule(
            "allergy", "Patient: I'm allergic to penicillin.", not: "Patient: I take penicillin."
        ) { notes, said in notes.readAllergy(said.tokens, said.terms, said.questions) },
        FactRule(
            "ended medicine", "Patient: I take atorvastatin.\nPatient: My legs ached so I stopped it.",
            not: "Patient: I take atorvastatin.\nPatient: I stopped smoking."
        ) { notes, said in
            let tokens = said.tokens
            let isEnded = tokens.indices.contains { start in
                tokens.end(of: ended, at: start).map { tokens[start..<($0 - 1)].allSatisfy { $0.pause == .none } }
                    ?? false
            }
            guard isEnded, !said.terms.has([.medication, .drugGroup]), notes.medications.wasNamedLast,
                let name = notes.medications.removeLast()
            else { return false }
            let text = said.asPatient.map { ["it", "them", "that"].contains($0.plain) ? $0.replaced(by: name) : $0 }
            notes.add(.presentIllness, tokens, text: text.text)
            return true
        },
        FactRule(
            "medicine that is not taken", "Patient: I used to take lisinopril 10 mg.",
            not: "Patient: I take lisinopril 10 mg."
        ) { notes, said in
            guard said.namesMedicine, said.tokens.contains(anyOf: notTaken) || said.tokens.contains(negations) else {
                return false
            }
            notes.addNarrative(said)
            notes.notice(medicationsIn: said.tokens, said.terms)
            return true
        },
        FactRule(
            "medicine", "Patient: I take lisinopril 10 mg.", not: "Patient: I read that lisinopril makes people cough."
        ) { notes, said in
            guard said.namesMedicine else { return false }
            notes.readMedications(said.tokens, said.terms, isTaken: said.isOfTaking)
            notes.addIndication(of: said.tokens)
            if said.terms.has([.symptom, .condition, .bodyPart]) { notes.addNarrative(said) }
            return true
        },
        FactRule(
            "denied symptoms", "Patient: I've had no fever or chills.", not: "Patient: I've had fever and chills."
        ) { notes, said in notes.readDenied(said.tokens, said.terms, said.clause) },
        .patient(
            "operation", adds: .surgicalHistory, "Patient: I had my gallbladder out in 2012.",
            not: "Patient: I need surgery on my knee."
        ) { _, said in
            let had =
                said.terms.has(.procedure) || said.tokens.contains(surgical)
                || said.tokens.contains(["out"]) && said.terms.has([.bodyPart])
                    && said.tokens.contains(["had", "took"])
            return had && !said.tokens.contains(["need", "want", "if"]) && !said.terms.has(.symptom)
        },
        .patient(
            "way of life", adds: .socialHistory, "Patient: I smoke ten cigarettes a day.",
            not: "Patient: I get chest pain when I smoke."
        ) { notes, said in notes.isSocial(said.tokens, said.terms, said.questions) },
        .patient(
            "earlier illness", adds: .medicalHistory, "Patient: I was diagnosed with asthma.",
            not: "Patient: I have a cough."
        ) { notes, said in
            said.terms.has(.condition) && !said.terms.has(.symptom)
                && (notes.hasChiefComplaint || said.tokens.contains(chronic))
                && (said.clause.turn != notes.chiefTurn || !said.clause.isLabelled)
                || said.tokens.contains(anyOf: histories) || isOfFormerYear(said.tokens, said.terms)
        },
        FactRule(
            "part of an answer", "Patient: My knee hurts.\nDoctor: How long has it hurt?\nPatient: Two months.",
            not: "Patient: My knee hurts.\nPatient: It has hurt for two months."
        ) { notes, said in said.questions.map { notes.readFragment(said.tokens, said.terms, $0) } ?? false },
        FactRule(
            "complaint", "Patient: I have a dry cough.", not: "Patient: It started on Monday, after work."
        ) { notes, said in
            guard
                said.terms.has([.symptom]) || said.terms.has(.bodyPart) && said.terms.has(.bodyComplaint)
                    || !notes.hasChiefComplaint && said.terms.has([.condition, .bodyPart, .bodyComplaint])
            else { return false }
            notes.readComplaint(said.tokens, said.terms, said.clause)
            return true
        },
        FactRule(
            "story", "Patient: It started on Monday, after work.", not: "Patient: I have a dry cough."
        ) { notes, said in
            notes.addNarrative(said, isAnswer: said.questions != nil)
            return true
        },
    ]

    private static let measured: Set = ["temperature", "fever", "sugar", "pressure"]
    private static let quitting = Lexicon.phrases("patient/quitting")

    /// Names what "it" and "gave up" mean after a question: "How high was the fever?" – "It went up to 39 degrees."
    private static func named(_ tokens: [Token], by question: (tokens: [Token], terms: Terms)?) -> [Token] {
        guard let question, let first = tokens.first else { return tokens }
        if first.plain == "it" || first.plain == "it's", tokens.contains(where: { $0.plain.first?.isNumber ?? false }),
            let name = question.tokens.last(where: { measured.contains($0.plain) })
        {
            let rest = first.plain == "it" ? Array(tokens.dropFirst()) : [first.replaced(by: "is")] + tokens.dropFirst()
            return [name] + rest
        }
        if question.tokens.contains(["smoke", "smoking", "smoked"]), !Terms(tokens).has(.social),
            let start = tokens.indices.first(where: { tokens.end(of: quitting, at: $0) != nil }),
            let end = tokens.end(of: quitting, at: start)
        {
            return tokens[..<end] + [tokens[start].replaced(by: "smoking")] + tokens[end...]
        }
        return tokens
    }

    private static let happenings = Lexicon.set("patient/happenings")

    /// Whether an illness or an injury was in a year that is over: "I broke my wrist in 2018".
    private static func isOfFormerYear(_ tokens: [Token], _ terms: Terms) -> Bool {
        guard terms.has([.condition, .bodyPart, .symptom]), tokens.contains(happenings) else { return false }
        return zip(tokens, tokens.dropFirst()).contains { first, second in
            first.plain == "in" && second.plain.utf8.count == 4 && ["19", "20"].contains(second.plain.prefix(2))
                && second.plain.utf8.allSatisfy(\.isDigit)
        }
    }

    // MARK: Other people

    private static let pronouns = Lexicon.set("patient/pronouns")
    private static let ofHealth = Lexicon.set("patient/of-health")

    fileprivate func isOfOther(_ tokens: [Token], _ terms: Terms) -> Bool {
        if terms.has(.relative), !tokens.contains(Self.reporting) { return true }
        guard speaksOfOther, !isThirdPerson || !relative.isEmpty, let first = tokens.first else { return false }
        return ["hers", "his"].contains(first.plain) || Self.pronouns.contains(first.plain)
    }

    fileprivate mutating func readOther(_ tokens: [Token], _ terms: Terms, answering questions: Asked?) {
        let isAsked = questions?.has(.bloodRelative) ?? false
        let isIll = terms.has([.condition, .symptom, .procedure]) || tokens.contains(Self.ofHealth)
        speaksOfOther = true
        if let first = terms.first(.bloodRelative) { relative = Array(tokens[first.range]) }
        if terms.has(.bloodRelative), isIll {
            add(.familyHistory, NoteVoice.ofPatient(tokens))
        } else if !relative.isEmpty, isIll || isAsked && tokens.contains(["had", "has", "got"]),
            let first = tokens.first, Self.pronouns.contains(first.plain)
        {
            // "How is your father?" – "He died of cancer."
            let said = NoteVoice.finished(Array(tokens.dropFirst()))
            add(.familyHistory, said, text: "\(relative.text) \(first.plain.hasSuffix("'s") ? "is " : "")\(said.text)")
        } else if terms.has(.relative), !isIll, tokens.contains(["live", "lives", "living", "died", "alone", "with"]) {
            if tokens.contains(["live", "lives", "living", "died"]) {
                add(.socialHistory, NoteVoice.ofPatient(tokens))
            }
        }
    }
}
