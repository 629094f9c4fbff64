import ScribeDomain

/// Finds what is of medical meaning in a transcript. Every fact quotes words that were spoken; nothing is added.
///
/// A sentence is cut into stretches where a phrase opens a topic, so that speech without punctuation is understood
/// too; then each stretch is read for what its topic allows.
struct FactExtraction {
    private typealias Opening = PhraseBook<ClinicalLexicon.Topic>.Entry

    private static let openings = PhraseBook(
        ClinicalLexicon.openings.flatMap { opening in opening.phrases.map { ($0, opening.topic) } }
    )
    private static let beginning = Opening(phrase: [], meaning: .statement)
    private static let notTaken = ClinicalLexicon.notTaken.map(words)
    private static let reactions = ClinicalLexicon.reactions.map(words)
    private static let conditions = PhraseBook(ClinicalLexicon.conditions)

    static func words(_ phrase: String) -> [String] { phrase.split(separator: " ").map(String.init) }

    /// Facts in the order in which they were said, each once.
    static func facts(in transcript: String) -> [ClinicalFact] {
        var seen = Set<String>()
        return Speech.sentences(of: transcript)
            .flatMap(facts(in:))
            .filter { seen.insert("\($0.kind) \($0.text.lowercased())").inserted }
    }

    private static func facts(in sentence: Speech) -> [ClinicalFact] {
        if sentence.words.last?.spoken.last == "?" { return [] }
        return stretches(of: sentence).flatMap { stretch -> [ClinicalFact] in
            let speech = sentence[stretch.range]
            switch stretch.topic {
            case .fact(let kind): return fact(kind, in: sentence, stretch)
            case .statement: return facts(inStatement: speech)
            case .instruction: return facts(inInstruction: speech)
            case .question: return []
            }
        }
    }

    private static func fact(_ kind: ClinicalFact.Kind, in sentence: Speech, _ stretch: Stretch) -> [ClinicalFact] {
        // "not allergic to", "no family history of": what is denied is quoted as denied.
        let reach = max(0, stretch.range.lowerBound - 3)..<stretch.range.lowerBound
        let denial = reach.last { ClinicalLexicon.negations.contains(sentence.words[$0].plain) }
        let speech = trimmed(sentence[(denial ?? stretch.range.lowerBound)..<stretch.range.upperBound])
        guard speech.words.count > stretch.opening.count || stretch.opening.count > 2 else { return [] }
        if kind == .assessment, stretch.opening.first == "you" {
            let names = speech.words.contains {
                ClinicalLexicon.diagnoses.contains($0.plain) || $0.plain.hasSuffix("itis")
            }
            return names ? [ClinicalFact(kind, speech.quotation)] : []
        }
        return [ClinicalFact(kind, speech.quotation)]
    }

    private static func facts(inStatement speech: Speech) -> [ClinicalFact] {
        if speech.contains(words("runs in the family")) { return [ClinicalFact(.history, speech.quotation)] }
        if reactions.contains(where: speech.contains), speech.words.contains(where: { isMedication($0.plain) }) {
            return [ClinicalFact(.allergy, speech.quotation)]
        }
        let medications = medications(in: speech)
        if !medications.isEmpty {
            return notTaken.contains(where: speech.contains) ? [] : medications
        }
        // What a doctor says of complaints is a question or an explanation.
        return speech.isDoctor ? [] : conditions(in: speech) + complaints(in: speech)
    }

    private static func facts(inInstruction speech: Speech) -> [ClinicalFact] {
        let isWithdrawal = speech.words.first.map { ClinicalLexicon.withdrawals.contains($0.plain) } ?? false
        if !isWithdrawal {
            let medications = medications(in: speech)
            if !medications.isEmpty { return medications }
        }
        let advice = trimmed(speech)
        return advice.words.count > 1 ? [ClinicalFact(.advice, advice.quotation)] : []
    }

    private static func conditions(in speech: Speech) -> [ClinicalFact] {
        speech.words.indices.compactMap { position in
            guard let match = speech.longest(of: conditions, at: position), isAsserted(position, in: speech) else {
                return nil
            }
            return ClinicalFact(.history, speech[position..<position + match.phrase.count].quotation)
        }
    }

    /// Whether what is named at `position` is said to be so, of the patient and now: neither denied nor possible, nor
    /// somebody else's. A denial reaches over a whole list, up to a "but".
    static func isAsserted(_ position: Int, in speech: Speech) -> Bool {
        for word in speech.words[..<position].reversed() {
            if ClinicalLexicon.contrasts.contains(word.plain) { return true }
            if ClinicalLexicon.negations.contains(word.plain) || ClinicalLexicon.hypotheticals.contains(word.plain)
                || ClinicalLexicon.otherPeople.contains(word.plain)
            {
                return false
            }
        }
        return true
    }

    // MARK: Stretches

    private struct Stretch {
        let topic: ClinicalLexicon.Topic
        /// The phrase that opens it; empty for the beginning of a sentence.
        let opening: [String]
        let range: Range<Int>
    }

    private static func stretches(of sentence: Speech) -> [Stretch] {
        var opened = [(opening: beginning, start: 0)]
        var position = 0
        while position < sentence.words.count {
            guard let opening = opening(in: sentence, at: position) else {
                position += 1
                continue
            }
            if let last = opened.last,
                !isContinued(last.opening, from: last.start, by: opening, at: position, in: sentence)
            {
                opened.append((opening, position))
            }
            position += opening.phrase.count
        }
        return opened.enumerated().compactMap { index, stretch in
            let end = index + 1 < opened.count ? opened[index + 1].start : sentence.words.count
            guard end > stretch.start else { return nil }
            return Stretch(topic: stretch.opening.meaning, opening: stretch.opening.phrase, range: stretch.start..<end)
        }
    }

    /// Whether what opens here still belongs to what was said before: "come back for a | review in one week".
    private static func isContinued(
        _ before: Opening, from start: Int, by opening: Opening, at position: Int, in sentence: Speech
    ) -> Bool {
        switch (before.meaning, opening.meaning) {
        case (.fact(.followUp), .instruction): false
        case (.fact(.followUp), _): true
        // "surgery on my left knee"
        case (.fact, .statement): opening.phrase == ["my"]
        case (.fact(let first), .fact(let second)):
            first == second && !sentence.words[start..<position].contains { $0.plain == "and" }
        // Who speaks of himself has begun to answer.
        case (.question, .statement): !["i", "i've", "and", "my"].contains(opening.phrase[0])
        case (.statement, .statement), (.statement, _), (.instruction, _), (.question, _), (.fact, _): false
        }
    }

    private static func opening(in sentence: Speech, at position: Int) -> Opening? {
        guard let found = sentence.longest(of: openings, at: position) else { return nil }
        let previous = position > 0 ? sentence.words[position - 1].plain : nil
        switch found.meaning {
        case .instruction:
            return previous.map(ClinicalLexicon.reporters.contains) ?? false ? nil : found
        case .question:
            // "I know how": only an opening word asks.
            return position == 0 || found.phrase.count > 1 ? found : nil
        case .fact, .statement:
            return found
        }
    }

    /// Without the words that lead over to the next stretch.
    private static func trimmed(_ speech: Speech) -> Speech {
        let leading: Set<String> = ["and", "but", "so", "then", "also", "please", "i", "was", "have", "a", "the", "am"]
        var speech = speech
        while let last = speech.words.last, leading.contains(last.plain) { speech.words.removeLast() }
        return speech
    }
}
