import ScribeDomain

/// Rules for answers: a yes, and the topics of questions that an answer denies or confirms.
extension FactExtraction {
    private static let states: Set = ["pregnant", "diabetic", "hypertensive", "asthmatic"]
    private static let standings = Lexicon.set("answers/standings")
    private static let events = Lexicon.set("answers/events")
    private static let habits: Set = ["smoke", "vape", "drink"]
    private static let pasts = Lexicon.set("answers/pasts")
    private static let allergies = Lexicon.set("answers/allergies")
    private static let impersonal = Lexicon.set("answers/impersonal")

    /// Rules for clauses that begin with yes. The clause is the rest of the answer.
    static let agreementRules: [FactRule] = [
        FactRule(
            "value that was asked for",
            "Doctor: Have you taken her temperature?\nPatient: Yes, it was 38.9 last night.",
            not: "Doctor: Have you taken her temperature?\nPatient: Yes."
        ) { notes, said in
            guard let questions = said.questions, let first = said.tokens.first?.plain, ["it", "it's"].contains(first),
                said.tokens.contains(where: { $0.plain.first?.isNumber ?? false })
            else { return false }
            notes.readStatement(said.clause, answering: questions)
            return true
        },
        FactRule(
            "confirmed list", "Doctor: You have heart failure and osteoporosis, is that right?\nPatient: Yes.",
            not: "Doctor: Do you have heart failure or osteoporosis?\nPatient: Yes."
        ) { notes, said in
            guard said.tokens.isEmpty, let question = said.questions?.clauses.last, said.topics.count > 1,
                question.tokens.first.map({ ["you", "you've"].contains($0.plain) }) ?? false,
                !question.tokens.contains(["or", "any"])
            else { return false }
            for topic in said.topics { notes.affirm(topic, with: []) }
            return true
        },
        FactRule(
            "confirmed medicine", "Doctor: You take ramipril for the pressure?\nPatient: Yes.",
            not: "Doctor: You take ramipril for the pressure?\nPatient: Yes, the ramipril makes me cough."
        ) { notes, said in
            guard let question = said.questions?.clauses.last, question.terms.has([.medication, .drugGroup]),
                !said.terms.has(.medication)
            else { return false }
            notes.readMedications(question.tokens, question.terms, isTaken: true)
            if said.tokens.count > 1 { notes.readStatement(said.clause, answering: said.questions) }
            return true
        },
        FactRule(
            "confirmed topic", "Doctor: Any swelling?\nPatient: Yes, a little.",
            not: "Doctor: How is the swelling?\nPatient: Yes, a little."
        ) { notes, said in
            let isElaborate = said.tokens.count > 5 || said.terms.has([.symptom, .medication, .condition])
            guard said.topics.count == 1, !isElaborate || !said.terms.has([.symptom, .medication]) else { return false }
            notes.affirm(said.topics[0], with: said.tokens)
            if isElaborate, said.tokens.count > 1 { notes.readStatement(said.clause, answering: said.questions) }
            return true
        },
        FactRule("more than a yes", "Patient: Yes a dry cough.", not: "Patient: Yes.") { notes, said in
            guard said.tokens.count > 1 else { return false }
            notes.readStatement(said.clause, answering: said.questions)
            return true
        },
    ]

    /// Rules for the topic of a question that an answer confirms.
    static let confirmationRules: [FactRule] = [
        .none(
            "confirmed topic without an ailment", "Doctor: Any questions?\nPatient: Yes.",
            not: "Doctor: Any swelling?\nPatient: Yes."
        ) { _, said in said.tokens.contains(impersonal) && !said.terms.has([.symptom, .allergen]) },
        FactRule(
            "confirmed family history", "Doctor: Any family history of diabetes?\nPatient: Yes.",
            not: "Doctor: Any diabetes?\nPatient: Yes."
        ) { notes, said in
            guard said.terms.has(.bloodRelative) else { return false }
            if said.tokens.count > 1 { notes.add(.familyHistory, said.tokens) }
            return true
        },
        .patient(
            "confirmed way of life", adds: .socialHistory, "Doctor: Do you smoke?\nPatient: Yes.",
            not: "Doctor: Do you cough?\nPatient: Yes."
        ) { _, said in said.terms.has(.social) && !said.terms.has(.symptom) },
        FactRule(
            "confirmed illness", "Doctor: Do you have asthma?\nPatient: Yes.",
            not: "Doctor: Do you have a cough?\nPatient: Yes."
        ) { notes, said in
            guard said.terms.has(.condition), !said.terms.has(.symptom) else { return false }
            notes.add(.medicalHistory, said.tokens)
            return true
        },
        FactRule(
            "confirmed symptom", "Doctor: Do you have a cough?\nPatient: Yes.",
            not: "Doctor: Is it worse on the stairs?\nPatient: Yes."
        ) { notes, said in
            guard said.terms.has([.symptom, .bodyPart, .bodyComplaint]) else { return false }
            notes.addComplaint(said.tokens, said.terms)
            return true
        },
        FactRule(
            "confirmed detail", "Doctor: Is it worse on the stairs?\nPatient: Yes.",
            not: "Doctor: Do you have a cough?\nPatient: Yes."
        ) { notes, said in
            notes.add(.presentIllness, said.tokens)
            return true
        },
    ]

    /// Rules for the topic of a question that an answer denies.
    static let denialRules: [FactRule] = [
        .denial(
            "denied allergy", adds: .allergy, "Doctor: Any allergies?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in
            guard said.tokens.contains(allergies) else { return nil }
            return said.tokens.contains(["allergic"]) ? "not" : "no"
        },
        FactRule(
            "denied family history", "Doctor: Any family history of diabetes?\nPatient: No.",
            not: "Doctor: Any diabetes?\nPatient: No."
        ) { notes, said in
            guard said.isOfFamily || said.terms.has(.bloodRelative) else { return false }
            notes.denyOfFamily(said.tokens, said.terms)
            return true
        },
        .none(
            "denied relation", "Doctor: Are you her wife?\nPatient: No.", not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.terms.has(.relative) && !said.terms.has([.symptom, .condition, .social]) },
        .denial(
            "event that did not happen", adds: .negative, "Doctor: Did you hit your head?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in
            said.tokens.count > 1 && events.contains(said.tokens.first?.plain ?? "") ? "did not" : nil
        },
        .denial(
            "denied state", adds: .negative, "Doctor: Are you pregnant?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.tokens.count < 4 && said.tokens.contains(states) ? "not" : nil },
        .denial(
            "denied earlier operation", adds: .negative, "Doctor: Any surgeries?\nPatient: No.", isNamed: true,
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.tokens.contains(pasts) && !said.terms.has(.social) ? "denies" : nil },
        .denial(
            "denied habit", adds: .socialHistory, "Doctor: Do you smoke?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.tokens.contains(habits) ? "does not" : nil },
        .denial(
            "standing that is not", adds: .socialHistory, "Doctor: Are you retired?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.tokens.count < 3 && said.tokens.contains(standings) ? "not" : nil },
        .denial(
            "denied way of life", adds: .socialHistory, "Doctor: Any recreational drugs?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in
            (said.terms.has(.social) || said.tokens.contains(["drugs"])) && !said.terms.has([.symptom, .medication])
                ? "denies" : nil
        },
        .none(
            "denied topic without an ailment", "Doctor: Any questions?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.tokens.contains(impersonal) && !said.terms.has([.symptom, .allergen, .bodyPart]) },
        .denial(
            "tolerated substance", adds: .allergy, "Doctor: Any problem with latex?\nPatient: No.",
            not: "Doctor: Any fever?\nPatient: No."
        ) { _, said in said.terms.has(.allergen) ? "no" : nil },
        .denial(
            "denied symptom", adds: .negative, "Doctor: Any fever?\nPatient: No.", isNamed: true,
            not: "Doctor: Any fever?\nPatient: Yes."
        ) { _, _ in "denies" },
    ]
}

extension FactRule {
    /// Rule that denies a topic, after the words that its closure returns; nil if the rule does not apply.
    /// - Parameter isNamed: Whether the topic is a detail of the fact.
    fileprivate static func denial(
        _ name: String, adds kind: ClinicalFact.Kind, _ example: String, isNamed: Bool = false,
        not counterexample: String,
        prefix: @escaping @Sendable (_ notes: inout FactExtraction, _ said: inout Utterance) -> String?
    ) -> FactRule {
        FactRule(name, example, not: counterexample) { notes, said in
            guard let prefix = prefix(&notes, &said) else { return false }
            let topic = said.tokens.text
            notes.add(kind, said.tokens, text: "\(prefix) \(topic)", details: isNamed ? ["name": topic] : [:])
            return true
        }
    }
}
