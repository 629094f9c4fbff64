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
    private static let hearsay = Lexicon.set("patient/hearsay")
    private static let notTaken = Lexicon.phrases("patient/not-taken")

    mutating func readStatement(_ clause: Dialogue.Clause, answering earlier: Asked? = nil) {
        let questions = earlier ?? asked
        asked = nil
        let tokens = Self.named(NoteVoice.withoutIdle(clause.tokens), by: questions?.clauses.last)
        let terms = Terms(tokens)
        guard
            tokens.count > 1 || questions != nil || terms.has(.medication)
                || clause.isLabelled && terms.has([.symptom, .condition])
        else { return }

        if tokens.count <= 9, let fragment = MedicationMention.fragment(tokens), medications.complete(with: fragment) {
            return
        }
        if readReason(clause) { return }
        if tokens.contains(["patient", "patients"]), !isThirdPerson { return }
        if isOfOther(tokens, terms) { return readOther(tokens, terms, answering: questions) }
        speaksOfOther = false
        relative = []
        // "Does it run in the family?" – "Almost everyone had diabetes."
        if questions?.has(.bloodRelative) ?? false, terms.has(.condition),
            !tokens.contains(["i", "i'm", "i've", "my"]), !tokens.contains(Self.negations)
        {
            return add(.familyHistory, NoteVoice.ofPatient(tokens))
        }
        if Self.isImmunization(tokens), !tokens.contains(Self.negations) {
            return add(.medicalHistory, NoteVoice.ofPatient(tokens, carries: clause.carriesSubject))
        }
        if readAllergy(tokens, terms, questions) { return }
        let isTaken =
            tokens.contains(Self.takings) || questions?.speaks(of: Self.takings) ?? false
            || questions?.has([.medication, .drugGroup]) ?? false
        // "I stopped it": no longer a medication of the patient.
        let isEnded = tokens.indices.contains { start in
            tokens.end(of: Self.ended, at: start).map { tokens[start..<($0 - 1)].allSatisfy { $0.pause == .none } }
                ?? false
        }
        if isEnded, !terms.has([.medication, .drugGroup]), medications.wasNamedLast,
            let name = medications.removeLast()
        {
            return add(
                .presentIllness, tokens,
                text: NoteVoice.ofPatient(tokens, carries: clause.carriesSubject)
                    .map { ["it", "them", "that"].contains($0.plain) ? $0.replaced(by: name) : $0 }.text)
        }
        let isHearsay = tokens.contains(Self.hearsay) && !isTaken
        let hasDrug = terms.has([.medication]) || isTaken && terms.has([.everydayMedication, .drugGroup])
        if !isHearsay, hasDrug || !MedicationMention.all(in: tokens, terms, isTaken: isTaken).isEmpty {
            guard !tokens.contains(anyOf: Self.notTaken), !tokens.contains(Self.negations) else {
                return addNarrative(tokens, terms, clause)
            }
            readMedications(tokens, terms, isTaken: isTaken, change: nil)
            addIndication(of: tokens)
            if terms.has([.symptom, .condition, .bodyPart]) { addNarrative(tokens, terms, clause) }
            return
        }
        if readDenied(tokens, terms, clause) { return }
        let hadProcedure =
            terms.has(.procedure) || tokens.contains(Self.surgical)
            || tokens.contains(["out"]) && terms.has([.bodyPart]) && tokens.contains(["had", "took"])
        if hadProcedure, !tokens.contains(["need", "want", "if"]), !terms.has(.symptom) {
            return add(.surgicalHistory, NoteVoice.ofPatient(tokens, carries: clause.carriesSubject))
        }
        if isSocial(tokens, terms, questions) {
            return add(.socialHistory, NoteVoice.ofPatient(tokens, carries: clause.carriesSubject))
        }
        let isHistory =
            terms.has(.condition) && !terms.has(.symptom)
            && (hasChiefComplaint || tokens.contains(Self.chronic)) && (clause.turn != chiefTurn || !clause.isLabelled)
            || tokens.contains(anyOf: Self.histories) || isOfFormerYear(tokens, terms)
        if isHistory { return add(.medicalHistory, NoteVoice.ofPatient(tokens, carries: clause.carriesSubject)) }
        if let questions, readFragment(tokens, terms, questions) { return }
        if terms.has([.symptom]) || terms.has(.bodyPart) && terms.has(.bodyComplaint)
            || !hasChiefComplaint && terms.has([.condition, .bodyPart, .bodyComplaint])
        {
            return readComplaint(tokens, terms, clause)
        }
        addNarrative(tokens, terms, clause, isAnswer: questions != nil)
    }

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
    private func isOfFormerYear(_ tokens: [Token], _ terms: Terms) -> Bool {
        guard terms.has([.condition, .bodyPart, .symptom]), tokens.contains(Self.happenings) else { return false }
        return zip(tokens, tokens.dropFirst()).contains { first, second in
            first.plain == "in" && second.plain.utf8.count == 4 && ["19", "20"].contains(second.plain.prefix(2))
                && second.plain.utf8.allSatisfy(\.isDigit)
        }
    }

    // MARK: Other people

    private static let pronouns = Lexicon.set("patient/pronouns")
    private static let ofHealth = Lexicon.set("patient/of-health")

    private func isOfOther(_ tokens: [Token], _ terms: Terms) -> Bool {
        if terms.has(.relative), !tokens.contains(Self.reporting) { return true }
        guard speaksOfOther, !isThirdPerson || !relative.isEmpty, let first = tokens.first else { return false }
        return ["hers", "his"].contains(first.plain) || Self.pronouns.contains(first.plain)
    }

    private mutating func readOther(_ tokens: [Token], _ terms: Terms, answering questions: Asked?) {
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
