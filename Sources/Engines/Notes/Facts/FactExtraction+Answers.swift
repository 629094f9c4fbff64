import ScribeDomain

/// Reads answers together with the questions before them: "Any fever?" – "No."
extension FactExtraction {
    mutating func readDenial(_ clause: Dialogue.Clause) {
        let questions = asked
        asked = nil
        if let questions {
            let isPartial = clause.tokens.contains(["but", "except", "just", "only"]) && clause.tokens.count > 3
            // "Not really, well, sometimes."
            let isHedged = clause.tokens.contains(["sometimes", "occasionally", "maybe", "bit", "little"])
            if isHedged, clause.tokens.count <= 5, let question = questions.clauses.last,
                let hedge = clause.tokens.last, case let topics = Topics.asked(in: question.tokens),
                topics.count == 1
            {
                return affirm(topics[0], with: [hedge])
            }
            for question in questions.clauses where !isHedged && (!isPartial || questions.clauses.count == 1) {
                let ofFamily = question.terms.has(.bloodRelative) || questions.isOfFamily
                let topics = Topics.asked(in: question.tokens)
                // "No palpitations" denies only the named topic of the question.
                let named = topics.filter { topic in
                    topic.last.map { last in clause.tokens.contains { $0.plain == last.plain } } ?? false
                }
                for topic in named.isEmpty ? topics : named { deny(topic, ofFamily: ofFamily) }
            }
        }
        var rest = clause.tokens[...]
        // "No, I quit in 2008": the rest carries more information.
        let first = rest.first?.plain ?? ""
        // "No the burning has gone"
        let tellsMore =
            rest.dropFirst().first.map { ["the", "your", "this"].contains($0.plain) } ?? false
            && rest.dropFirst().contains { ["is", "has", "was", "have", "are", "had"].contains($0.plain) }
        if first == "no" || first == "nope" || first == "nah",
            tellsMore || rest.first?.pause != Token.Pause.none
                || rest.dropFirst().first.map({
                    [
                        "i", "i'm", "i've", "he", "she", "it", "it's", "my", "we", "they", "he's", "she's", "not", "no",
                        "that", "that's", "just",
                    ].contains($0.plain)
                }) ?? true
        {
            rest = rest.dropFirst()
        }
        while let last = rest.last, Self.bareDenials.contains(last.plain) { rest.removeLast() }
        // "No, nothing like that", "No, not at all": once more the same.
        if let word = rest.first, ["not", "nothing", "none", "never"].contains(word.plain),
            !Terms(Array(rest)).has([
                .symptom, .condition, .medication, .drugGroup, .allergen, .social, .procedure, .bodyComplaint,
                .relative,
            ])
        {
            return
        }
        guard rest.count > 1, !rest.allSatisfy({ Self.bareDenials.contains($0.plain) }) else { return }
        var more = clause
        more.tokens = Array(rest)
        readStatement(more, answering: questions)
    }

    private static let bareDenials = Lexicon.set("answers/bare-denials")

    /// Adds the denial of a topic, with the topic's kind of fact.
    mutating func deny(_ topic: [Token], ofFamily: Bool = false) {
        let said = NoteVoice.finished(topic, by: .clinician)
        let terms = Terms(said)
        // "Any nausea? Any vision changes?" – "Yeah. No vision changes."
        if let index = facts.suffix(3).indices.last(where: { facts[$0].text == said.text && Self.isReport(facts[$0]) })
        {
            facts.remove(at: index)
        }
        guard !(said.count == 1 && Self.noTopics.contains(said[0].plain)), !said.contains(Self.titles) else { return }
        let clause = Dialogue.Clause(tokens: said, speaker: .patient)
        apply(Self.denialRules, to: Utterance(clause, said, terms, isOfFamily: ofFamily))
    }

    /// Adds the denial of a family history, "No one in the family has it", whatever the question's form.
    mutating func denyOfFamily(_ said: [Token], _ terms: Terms) {
        let words = said.filter { !["run", "runs", "running"].contains($0.plain) }
        let text: String =
            if let first = words.first, ["anyone", "anybody"].contains(first.plain) {
                "no one " + Array(words.dropFirst()).text
            } else {
                "no " + words.text
            }
        add(
            .familyHistory, said,
            text: said.contains(["family"]) || terms.has(.bloodRelative) ? text : text + " in the family")
    }

    private static func isReport(_ fact: ClinicalFact) -> Bool {
        [.chiefComplaint, .complaint, .presentIllness].contains(fact.kind)
    }

    private static let noTopics = Lexicon.set("answers/no-topics")
    private static let titles = Lexicon.set("answers/titles")

    mutating func readAgreement(_ clause: Dialogue.Clause) {
        let questions = asked
        asked = nil
        var rest = clause.tokens
        while let first = rest.first, Self.agreeing.contains(first.plain) { rest.removeFirst() }
        if rest.count == 2, rest[0].plain == "that's", ["right", "correct"].contains(rest[1].plain) { rest = [] }
        var more = clause
        more.tokens = rest
        apply(Self.agreementRules, to: Utterance(more, rest, Terms(rest), answering: questions))
    }

    private static let agreeing = Lexicon.agreeing.union(["ji", "okay"])

    /// Adds a confirmed topic; a short rest of the answer is included: "a little, at the end of the day".
    mutating func affirm(_ topic: [Token], with rest: [Token]) {
        let isShort = rest.count <= 8 && !rest.contains(["i", "i'm", "i've", "it", "it's", "my", "he", "she"])
        let said = NoteVoice.finished(topic + (isShort ? rest : []))
        let terms = Terms(said)
        let clause = Dialogue.Clause(tokens: said, speaker: .patient, carriesSubject: true)
        apply(Self.confirmationRules, to: Utterance(clause, said, terms))
    }
}
