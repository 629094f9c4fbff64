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

    static func words(_ phrase: String) -> [String] { phrase.split(ascii: " ").map(String.init) }

    /// Facts in the order in which they were said, each once.
    static func facts(in transcript: String) -> [ClinicalFact] {
        var seen: [ClinicalFact.Kind: Set<String>] = [:]
        return Speech.sentences(of: transcript)
            .flatMap(facts(in:))
            .filter { seen[$0.kind, default: []].insert($0.text.lowercased()).inserted }
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
            return names ? [speech.fact(kind)] : []
        }
        return [speech.fact(kind)]
    }

    private static func facts(inStatement speech: Speech) -> [ClinicalFact] {
        if speech.contains(words("runs in the family")) { return [speech.fact(.history)] }
        if reactions.contains(where: speech.contains), speech.words.contains(where: { isMedication($0.plain) }) {
            return [speech.fact(.allergy)]
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
        return advice.words.count > 1 ? [advice.fact(.advice)] : []
    }

    private static func conditions(in speech: Speech) -> [ClinicalFact] {
        let assertions = Assertions(of: speech)
        return speech.words.indices.compactMap { position in
            guard let match = speech.longest(of: conditions, at: position), assertions[position] else { return nil }
            return speech[position..<position + match.phrase.count].fact(.history)
        }
    }

    /// Whether what is named at a position is said to be so, of the patient and now: neither denied nor possible, nor
    /// somebody else's. A denial reaches over a whole list, up to a "but".
    struct Assertions {
        private let values: [Bool]

        init(of speech: Speech) {
            var isAsserted = true
            values = speech.words.map { word in
                defer {
                    if ClinicalLexicon.contrasts.contains(word.plain) {
                        isAsserted = true
                    } else if ClinicalLexicon.negations.contains(word.plain)
                        || ClinicalLexicon.hypotheticals.contains(word.plain)
                        || ClinicalLexicon.otherPeople.contains(word.plain)
                    {
                        isAsserted = false
                    }
                }
                return isAsserted
            }
        }

        subscript(position: Int) -> Bool { values[position] }
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
        var lastAnd = -1
        while position < sentence.words.count {
            guard let opening = opening(in: sentence, at: position) else {
                if sentence.words[position].plain == "and" { lastAnd = position }
                position += 1
                continue
            }
            if let last = opened.last,
                !isContinued(last.opening, by: opening, hasAnd: lastAnd >= last.start)
            {
                opened.append((opening, position))
            }
            if opening.phrase.contains("and") { lastAnd = position }
            position += opening.phrase.count
        }
        return opened.enumerated().compactMap { index, stretch in
            let end = index + 1 < opened.count ? opened[index + 1].start : sentence.words.count
            guard end > stretch.start else { return nil }
            return Stretch(topic: stretch.opening.meaning, opening: stretch.opening.phrase, range: stretch.start..<end)
        }
    }

    /// Whether what opens here still belongs to what was said before: "come back for a | review in one week".
    /// - Parameter hasAnd: whether there is one in between.
    private static func isContinued(_ before: Opening, by opening: Opening, hasAnd: Bool) -> Bool {
        switch (before.meaning, opening.meaning) {
        case (.fact(.followUp), .instruction): false
        case (.fact(.followUp), _): true
        // "surgery on my left knee"
        case (.fact, .statement): opening.phrase == ["my"]
        case (.fact(let first), .fact(let second)): first == second && !hasAnd
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
