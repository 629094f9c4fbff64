import ScribeDomain

/// Extracts allergies, denied symptoms, complaints and the rest of the story from a patient's clause.
extension FactExtraction {
    mutating func readAllergy(_ tokens: [Token], _ terms: Terms, _ questions: Asked?) -> Bool {
        let wasAsked = questions?.speaks(of: ["allergic", "allergies", "allergy", "tolerate"]) ?? false
        let isSaid = tokens.contains(anyOf: Self.allergic)
        let isTaken = tokens.contains(Self.takings)
        guard isSaid || wasAsked && !isTaken && terms.has([.allergen, .medication, .drugGroup]) else { return false }
        let saysSo = tokens.contains(["allergic", "allergy", "allergies", "intolerant"])
        // "I took amoxicillin and it gave me hives."
        if !saysSo, !terms.has([.medication, .allergen]), tokens.contains(["it", "that", "they"]),
            let name = medications.removeLast()
        {
            add(
                .allergy, tokens,
                text:
                    "\(name): \(NoteVoice.ofPatient(tokens).filter { !["it", "that", "they"].contains($0.plain) }.text)"
            )
            return true
        }
        guard saysSo || terms.has([.medication, .allergen]) else { return false }
        if tokens.contains(["no", "not", "nothing", "none", "any"]), !terms.has([.medication, .allergen, .drugGroup]) {
            add(.allergy, tokens, text: tokens.contains(["known"]) ? "no known allergies" : "no allergies")
            return true
        }
        add(.allergy, NoteVoice.ofPatient(tokens))
        notice(medicationsIn: tokens, terms)
        return true
    }

    /// Extracts denied symptoms up to a contrast: "No fever or chills".
    mutating func readDenied(_ tokens: [Token], _ terms: Terms, _ clause: Dialogue.Clause) -> Bool {
        guard let start = tokens.firstIndex(where: { Self.negations.contains($0.plain) }) else { return false }
        let denied = terms.all.filter {
            $0.range.lowerBound > start && !$0.kinds.isDisjoint(with: [.symptom, .condition])
        }
        guard !denied.isEmpty else { return false }
        // "can't", "not sleeping well": a failing function is a complaint.
        let before = tokens[..<start]
        if !before.isEmpty {
            let terms = Terms(Array(before))
            if terms.has(.symptom) { readComplaint(Array(before), terms, clause) }
        }
        var topic: [Token] = []
        for token in tokens[(start + 1)...] {
            // "No fever, but she has a cough": the rest is no denial.
            if ["has", "have", "had", "am", "i'm", "is"].contains(token.plain),
                topic.count <= 2, let before = topic.last, ["i", "she", "he", "it", "we"].contains(before.plain)
            {
                let rest = Array(tokens[(tokens.firstIndex(of: token) ?? start)...])
                let terms = Terms(rest)
                if terms.has(.symptom) { readComplaint(rest, terms, clause) }
                return true
            }
            if ["or", "and", "nor"].contains(token.plain) || token.pause > .none {
                if !["or", "and", "nor"].contains(token.plain) { topic.append(token) }
                if Terms(topic).has([.symptom, .condition, .bodyPart]) { deny(Self.withoutVerbs(topic)) }
                topic = []
            } else {
                topic.append(token)
            }
        }
        if Terms(topic).has([.symptom, .condition, .bodyPart]) { deny(Self.withoutVerbs(topic)) }
        return true
    }

    private static func withoutVerbs(_ tokens: [Token]) -> [Token] {
        let verbs: Set = [
            "had", "have", "having", "any", "been", "a", "the", "really", "get", "got", "noticed", "felt", "feel",
            "kind", "of", "ever", "no", "i", "never", "not",
        ]
        return Array(tokens.drop { verbs.contains($0.plain) })
    }

    func isSocial(_ tokens: [Token], _ terms: Terms, _ questions: Asked?) -> Bool {
        if terms.has(.social), !terms.has([.symptom, .bodyComplaint]) { return true }
        guard let questions, !terms.has([.symptom, .condition, .medication]) else { return false }
        return questions.speaks(of: [
            "smoke", "smoking", "alcohol", "drink", "drinking", "drugs", "vape", "work", "job", "live", "coffee",
            "married", "children", "tobacco", "living", "occupation", "exercise", "diet", "travel", "retired",
        ])
            && tokens.count > 1
    }

    private static let hedges = Lexicon.set("patient/hedges")

    /// Interprets a fragment by the question before it: "Two months." after "How long has it hurt?"
    mutating func readFragment(_ tokens: [Token], _ terms: Terms, _ questions: Asked) -> Bool {
        guard let question = questions.clauses.last, tokens.count <= 7, !terms.has([.symptom, .condition, .bodyPart]),
            !tokens.contains(["i", "i'm", "i've", "it", "it's", "he", "she", "that's", "they", "my"])
        else { return false }
        let said = NoteVoice.finished(tokens)
        let ailment = question.terms.first([.symptom, .condition, .medication])
        let topic = ailment.map { Array(question.tokens[$0.range]) } ?? []
        let isWhen = question.tokens.contains(["long", "when", "since", "often", "time"])
        // "How often do you get up at night?" – "Maybe two": two of what, the answer does not tell.
        if topic.isEmpty, said.allSatisfy({ Numbers.isNumber($0.plain) || Self.hedges.contains($0.plain) }) {
            return true
        }
        guard !topic.isEmpty || isWhen || terms.has(.qualifier) else { return tokens.count < 3 }
        guard isWhen, topic.isEmpty else {
            add(.presentIllness, topic + said)
            return true
        }
        let isLength =
            Numbers.isNumber(said[0].plain)
            || ["about", "around", "almost", "nearly", "a", "few"].contains(said[0].plain)
        add(
            .presentIllness, said,
            text: [chiefName, isLength ? "for" : "", said.text].filter { !$0.isEmpty }.joined(separator: " "))
        return true
    }

    mutating func readComplaint(_ tokens: [Token], _ terms: Terms, _ clause: Dialogue.Clause) {
        // Several complaints in one breath become separate facts.
        var parts: [[Token]] = [[]]
        for token in tokens {
            if token.plain == "and", parts[parts.count - 1].count > 0 {
                parts.append([])
            } else {
                parts[parts.count - 1].append(token)
            }
        }
        let named = parts.allSatisfy { Terms($0).has([.symptom, .bodyPart]) }
        let isChief = !hasChiefComplaint
        for (index, part) in (named ? parts : [tokens]).enumerated() where !part.isEmpty {
            let said = NoteVoice.ofPatient(part, carries: index > 0 || clause.carriesSubject)
            let terms = Terms(said)
            addComplaint(said, terms, as: isChief ? .chiefComplaint : .complaint)
            hasChiefComplaint = true
            if isChief { chiefTurn = clause.turn }
        }
    }

    private static let telling = Lexicon.set("patient/telling")
    private static let worthless = Lexicon.set("patient/worthless")

    /// Adds the rest of the story if it says something about the illness.
    mutating func addNarrative(_ said: Utterance, isAnswer: Bool = false) {
        let (tokens, terms) = (said.tokens, said.terms)
        guard tokens.count > 2, !tokens.contains(Self.worthless) else { return }
        let tells =
            terms.has([
                .symptom, .bodyPart, .bodyComplaint, .condition, .medication, .drugGroup, .investigation, .examination,
                .procedure,
            ])
            || tokens.contains(Self.telling) || isAnswer && tokens.count > 4
        guard tells else { return }
        let text = said.asPatient
        guard text.count > 1 else { return }
        add(.presentIllness, text)
    }
}
