package import ScribeDomain

/// Finds red flags in speech: a rule of thumb for tests (streaming.md 4.8).
///
/// A flag does not count in a question, a denial or a supposition, in another person's past, or in the distant past.
package enum UrgencyRules {
    /// Urgency of a text of one or several turns; nil without a red flag.
    /// - Parameter question: text said just before, for an answer such as "Yes".
    package static func level(of text: String, after question: String? = nil) -> Urgency.Level? {
        // The text is at most one segment long; the caller has checked its combining marks.
        let sentences = Speech.sentences(of: text)
        // Fast path: most speech has none of these words.
        let mayFlag = sentences.contains { $0.words.contains { RedFlag.beginnings.contains($0.plain) } }
        guard mayFlag || question != nil else { return nil }
        let said = Set(
            sentences.flatMap { sentence in
                sentence.words.flatMap {
                    [$0.plain, $0.plain.hasSuffix("'s") ? String($0.plain.dropLast(2)) : $0.plain]
                }
            })
        let causes = RedFlag.causes.map { !$0.words.isDisjoint(with: said) }
        var asked = question.flatMap { Speech.sentences(of: $0).flatMap(clauses).compactMap(levelAsked).last }
        var found: Urgency.Level?
        for sentence in sentences {
            guard !isTale(sentence) else { continue }
            for clause in clauses(of: sentence) {
                switch Answer(clause) {
                case .yes:
                    found = [found, asked].compactMap(\.self).max()
                    asked = nil
                case .no: asked = nil
                case nil: break
                }
                if clause.isQuestion {
                    // The next question replaces an unanswered one.
                    let level = levelAsked(in: clause)
                    if clause.opensQuestion || level != nil { asked = level }
                } else if let level = asserted(in: clause, causes) {
                    found = max(found ?? level, level)
                }
            }
        }
        return found
    }

    /// Whether a text begins with a yes, so that the question before it counts.
    package static func isAnswer(_ text: String) -> Bool {
        Speech.sentences(of: text).first.flatMap { clauses(of: $0).first }.flatMap(Answer.init) == .yes
    }

    // MARK: Clauses

    /// A part of a sentence with one subject.
    private struct Clause {
        private(set) var words: [String] = []
        /// Whether a verb of the clause is denied: "don't".
        private(set) var isDenying = false
        /// Whether the clause is a question.
        var isQuestion = false
        /// Whether the first words make the clause a question, not only the question mark at the end of its sentence.
        var opensQuestion = false

        mutating func append(_ word: String) {
            words.append(word)
            if denyingVerbs.contains(word) { isDenying = true }
        }
    }

    private enum Answer {
        case yes, no

        private static let affirmative: Set = [
            "yes", "yeah", "yep", "yup", "haan", "han", "ji", "हाँ", "हां", "correct", "every", "sometimes", "often",
            "constantly",
            "most", "lots", "uh-huh", "mm-hmm", "definitely", "only",
        ]
        private static let negative: Set = ["no", "nope", "nah", "never", "none", "nahi", "nahin", "नहीं", "not"]

        init?(_ clause: Clause) {
            guard let first = clause.words.first else { return nil }
            if Self.affirmative.contains(first) {
                self = .yes
            } else if Self.negative.contains(first) || clause.words.starts(with: ["i", "don't"]) {
                self = .no
            } else {
                return nil
            }
        }
    }

    private static let fillers: Set = [
        "um", "uh", "er", "erm", "hmm", "mm", "oh", "well", "please", "just", "really", "actually",
    ]
    private static let subjects: Set = [
        "i", "i'm", "i've", "i'll", "he", "she", "he's", "she's", "my", "his", "her", "they", "there's", "it", "it's",
        "we",
        "now",
        "doctor", "mujhe", "mera", "meri",
    ]
    /// Words after which a subject does not begin a new clause.
    private static let binding: Set = [
        "and", "or", "that", "if", "when", "think", "thinks", "thought", "because", "to", "with", "of", "in", "for",
        "on",
        "as", "like", "what", "how", "where", "whether", "than", "so", "since", "while", "after", "before", "do",
        "does",
        "did", "have", "has", "had", "can", "could", "would", "should", "was", "were", "am", "is", "are", "about", "at",
        "from", "by", "unless", "says", "said", "bit", "bitten", "out", "off", "move", "feel", "lift", "raise",
        "stop", "hurt", "hurting", "end", "ending", "take", "taking", "through", "across", "gave", "make", "made",
        "saw",
        "over", "up", "down", "all", "wake", "not", "no", "any", "the", "me", "wish", "bring", "give", "let", "tell",
        "send", "keep", "catch", "shake", "press", "got", "get", "cut", "cutting", "slit", "hit", "injected",
        "swallowed",
        "time", "around", "behind", "under", "inside", "against", "near", "between",
    ]
    private static let asking = PhraseBook([
        "any", "do you", "did you", "have you", "has he", "has she", "are you", "is there", "is he", "is she",
        "does he",
        "does she", "were you", "have there been", "was there", "can you", "had any", "could it be", "can i",
    ])

    private static func clauses(of sentence: Speech) -> [Clause] {
        let endsAsking = sentence.words.last?.spoken.last == "?"
        var clauses: [Clause] = []
        var clause = Clause()
        var afterPause = true
        func begin() {
            clauses.append(clause)
            clause = Clause()
        }
        for (index, word) in sentence.words.enumerated() where !fillers.contains(word.plain) {
            let previous = clause.words.last
            let next = sentence.words[(index + 1)...].first { !fillers.contains($0.plain) }?.plain
            // "It doesn't make any sense" is no question.
            let asks =
                sentence.longest(of: asking, at: index) != nil && !(word.plain == "any" && clause.isDenying)
            let opens =
                ClinicalLexicon.contrasts.contains(word.plain)
                || subjects.contains(word.plain)
                    && (afterPause || previous.map { !binding.contains($0) && !$0.hasSuffix("ing") } ?? false)
                || word.plain == "and"
                    && (next.map { subjects.contains($0) || $0 == "the" && clause.isDenying } ?? false)
                || asks && previous != "without" && previous != "of"
                || afterPause && ["yes", "yeah", "no", "nope", "haan"].contains(word.plain)
            if opens, !clause.words.isEmpty { begin() }
            if asks, clause.words.isEmpty {
                clause.isQuestion = true
                clause.opensQuestion = true
            }
            // Without punctuation an answer directly follows its question.
            if clause.isQuestion, ["yes", "yeah", "no", "nope", "haan", "none"].contains(word.plain) { begin() }
            clause.append(word.plain)
            afterPause = word.endsClause
        }
        clauses.append(clause)
        if endsAsking { for index in clauses.indices { clauses[index].isQuestion = true } }
        return clauses
    }

    // MARK: Questions and assertions

    /// Finds the red flags in a clause.
    /// - Parameter causes: whether each of ``RedFlag/causes`` is in this text; nil for red flags without a cause.
    private static func flags(
        in words: [String], _ causes: [Bool]? = nil
    ) -> [(start: Int, end: Int, flag: RedFlag)] {
        words.indices.flatMap { start in
            let beside = causes.map { causes in
                RedFlag.besideCauses[words[start], default: []].filter { causes[$0.cause] }.map(\.flag)
            }
            return (RedFlag.byBeginning[words[start], default: []] + (beside ?? [])).compactMap { flag in
                flag.end(in: words, at: start, before: words.count).map { (start, $0, flag) }
            }
        }
    }

    private static func levelAsked(in clause: Clause) -> Urgency.Level? {
        guard clause.isQuestion else { return nil }
        return flags(in: clause.words).map(\.flag.level).max()
    }

    private static func asserted(in clause: Clause, _ causes: [Bool]) -> Urgency.Level? {
        let words = clause.words
        let found = flags(in: words, causes)
        guard !found.isEmpty, !isPast(words) else { return nil }
        // Computed once for all flags: there may be as many flags as words.
        let begins = words.indices.first { denies(words, at: $0) || supposes(words, at: $0) } ?? words.count
        return found.filter { found in
            found.start <= begins && (found.flag.denies || !isDeniedWithin(words[found.start..<found.end]))
                && !(found.start > 0 && denyingVerbs.contains(words[found.start - 1]))
                && !isOver(words[found.end...])
        }.map(\.flag.level).max()
    }

    /// Words that a verb such as "don't" can deny: "I don't know" denies nothing.
    private static let deniable: Set = [
        "have", "had", "having", "get", "getting", "got", "feel", "feeling", "felt", "any", "experience",
        "experiencing",
        "noticed", "think", "thinking", "thought", "thoughts", "plan", "planning", "suicidal", "been", "going",
        "intend",
        "want", "ever", "a", "actively",
    ]
    private static let denials: Set = [
        "no", "never", "without", "nor", "neither", "deny", "denies", "denied", "denying", "negative",
    ]
    private static let denyingVerbs: Set = [
        "not", "don't", "didn't", "isn't", "aren't", "wasn't", "weren't", "haven't", "hasn't", "hadn't", "doesn't",
        "wouldn't",
        "won't", "ain't",
    ]
    /// Words after which "no" or "not" denies nothing.
    private static let strengthening: Set = [
        "only", "just", "idea", "sure", "longer", "doubt", "one", "well", "good", "better", "matter",
    ]

    /// Whether a word denies everything after it in the clause.
    private static func denies(_ words: [String], at index: Int) -> Bool {
        let next = index + 1 < words.count ? words[index + 1] : ""
        guard !strengthening.contains(next) else { return false }
        return denials.contains(words[index])
            || denyingVerbs.contains(words[index]) && words[(index + 1)...].prefix(4).contains(where: deniable.contains)
    }

    private static let suppositions: Set = [
        "if", "whether", "unless", "might", "could", "may", "would", "signs", "symptoms", "risk", "risks", "worried",
        "worry", "afraid", "scared", "fear", "prevent", "prevents", "preventing", "lower", "reduce", "avoid", "causes",
        "cause", "watch", "look", "call", "case", "excluded", "exclude", "rule", "ruled", "ruling", "checked", "screen",
        "test", "tested", "training", "should", "anyone", "effects", "effect", "listed", "kit",
        "prescription", "leaflet", "someone", "somebody", "people",
        "when", "warning", "used",
    ]

    /// Whether a word makes everything after it in the clause hypothetical.
    private static func supposes(_ words: [String], at index: Int) -> Bool {
        guard suppositions.contains(words[index]) else { return false }
        // "When I lie down my chest hurts" and "if I breathe in" state facts.
        guard ["if", "when"].contains(words[index]), index + 2 < words.count,
            // "Bring her back if she goes floppy"
            !words[..<index].contains(
                where: ["bring", "come", "call", "ring", "go", "return", "phone", "dial"].contains),
            ["i", "he", "she"].contains(words[index + 1])
        else { return true }
        return [
            "get", "gets", "have", "has", "had", "ever", "were", "start", "starts", "was", "am", "goes", "turns",
            "becomes", "develops",
        ]
        .contains(words[index + 2])
    }

    /// Whether a denial stands among the flag's own words: "my face isn't drooping".
    private static func isDeniedWithin(_ words: ArraySlice<String>) -> Bool {
        words.dropFirst().contains(
            where: ["isn't", "aren't", "wasn't", "hasn't", "haven't", "not", "no"].contains)
    }

    /// Whether the words after a flag say that the condition has ended or never occurred.
    private static func isOver(_ words: ArraySlice<String>) -> Bool {
        let text = words.prefix(8)
        if text.contains(
            where: [
                "resolved", "settled", "usual", "prescribed", "nahi", "nahin", "नहीं", "ruled", "negative", "excluded",
            ].contains)
        {
            return true
        }
        return zip(text, text.dropFirst()).contains { first, second in
            [
                "went away", "gone away", "gone now", "is gone", "it's gone", "has gone", "have gone", "all gone",
                "cleared up", "better now", "last year", "years ago", "months ago", "year ago",
            ]
            .contains("\(first) \(second)")
        }
    }
}
