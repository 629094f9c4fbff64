/// Words of a conversation by whether they were affirmed or denied, by the patient or by the clinician.
struct SpokenDenials {
    /// Terms, and single words, with whether they were denied; one can be both denied and affirmed.
    private var terms: [String: Set<Bool>] = [:]
    private var words: [String: Set<Bool>] = [:]
    /// Terms of sentences and questions from which no listener can tell.
    private var unclear: Set<String> = []

    init(_ dialogue: Dialogue) {
        // Questions wait for their answer.
        var questions: [[Token]] = []
        let clauses = dialogue.clauses
        for (index, clause) in clauses.enumerated() {
            if clause.act == .question {
                questions.append(clause.tokens)
                continue
            }
            let next = index + 1 < clauses.count && clauses[index + 1].turn == clause.turn ? clauses[index + 1] : nil
            let answer = Self.answer(clause, then: next)
            for question in questions { insert(question, isDenied: answer) }
            questions = []
            // The rest of an answer such as "no, I have a cough" stands for itself.
            insert(clause.tokens)
        }
        for question in questions { insert(question, isDenied: nil) }
    }

    /// Whether a clause denies or affirms the question before it; nil if no listener can tell.
    private static func answer(_ clause: Dialogue.Clause, then next: Dialogue.Clause?) -> Bool? {
        switch clause.act {
        case .agreement: return false
        case .denial:
            // "No, only when I climb stairs" denies nothing of it.
            let isLimited = next?.tokens.first.map { limiting.contains($0.plain) } ?? false
            return clause.tokens.count <= 4 && !isLimited && !clause.tokens.contains(limiting) ? true : nil
        case .question, .statement: return nil
        }
    }

    /// - Parameter isDenied: whether the answer denies the question; nil for an answer from which no listener can tell.
    private mutating func insert(_ question: [Token], isDenied: Bool?) {
        let found = ClinicalTerms.all(in: question)
        // "Has the fever gone?" "No." denies no fever.
        guard let isDenied, !question.contains(Self.changing) else { return unclear.formUnion(found.map(\.key)) }
        // "Any phlegm with the cough?" takes the cough for granted.
        let known = found.filter { term in
            term.range.lowerBound > 0 && Self.definite.contains(question[term.range.lowerBound - 1].plain)
        }
        unclear.formUnion(known.map(\.key))
        let taken = Set(known.map(\.range).joined())
        for term in found where !taken.contains(term.range.lowerBound) { terms[term.key, default: []].insert(isDenied) }
        for place in question.indices where !taken.contains(place) {
            words[question[place].plain.wordStem, default: []].insert(isDenied)
        }
    }

    private mutating func insert(_ tokens: [Token]) {
        var scope = Scope()
        let found = ClinicalTerms.all(in: tokens)
        var next = found[...]
        var place = 0
        while place < tokens.count {
            if let term = next.first, term.range.lowerBound == place {
                next = next.dropFirst()
                let end = term.range.upperBound
                // "I've never had a headache like this"
                let isLikened = end < tokens.count && ["like", "as", "before"].contains(tokens[end].plain)
                terms[term.key, default: []].insert(scope.isOpen && !isLikened)
                for index in term.range {
                    words[tokens[index].plain.wordStem, default: []].insert(scope.isOpen && !isLikened)
                }
                if isLikened { unclear.insert(term.key) }
                if tokens[end - 1].pause >= .end { scope = Scope() }
                place = end
            } else {
                scope.read(tokens[place])
                words[tokens[place].plain.wordStem, default: []].insert(scope.isOpen)
                if tokens[place].pause >= .end { scope = Scope() }
                place += 1
            }
        }
    }

    /// Whether a statement denies what was not denied, or affirms what was only denied.
    func contradict(_ tokens: [Token]) -> Bool {
        let statements = Self.statements(in: tokens)
        for statement in statements {
            if statement.isDenied {
                let parts = statement.term.split(separator: " ").map(String.init)
                let isDenied = terms[statement.term]?.contains(true) ?? false
                if !isDenied, !parts.allSatisfy({ words[$0]?.contains(true) ?? false }) { return true }
            } else if terms[statement.term] == [true], !unclear.contains(statement.term) {
                return true
            }
        }
        return ClinicalTerms.all(in: tokens).isEmpty && deniesUnsaid(tokens)
    }

    /// Whether a denial without a known term, such as "no surgery planned", has no word that was denied.
    private func deniesUnsaid(_ tokens: [Token]) -> Bool {
        guard let start = tokens.firstIndex(where: { Self.denials.contains($0.plain) }) else { return false }
        let content = tokens[(start + 1)...].map(\.plain).filter { $0.count > 3 && !Self.filling.contains($0) }
        return !content.isEmpty && !content.contains { words[$0.wordStem]?.contains(true) ?? false }
    }

    // MARK: Scope of a denial in speech

    /// Reach of a denial in speech: over what follows it at once, and over a list of such words.
    private struct Scope {
        private(set) var isOpen = false
        /// Further words that may stand between the denial and what it denies.
        private var left = 0

        mutating func read(_ token: Token) {
            if SpokenDenials.denials.contains(token.plain) {
                (isOpen, left) = (true, 2)
            } else if SpokenDenials.closing.contains(token.plain) {
                isOpen = false
            } else if !SpokenDenials.joining.contains(token.plain), !SpokenDenials.asking.contains(token.plain) {
                left -= 1
                if left < 0 { isOpen = false }
            }
        }
    }

    private static let denials = Lexicon.negations.union(["none", "nothing", "denying", "negative", "free"])
    private static let joining: Set = ["or", "nor", "and", "of", "the", "a", "an", "any", "in"]
    private static let closing: Set = [
        "but", "however", "although", "because", "more", "only", "just", "except", "if", "when", "unless", "until",
        "yes", "has", "which", "that", "so", "for",
    ]
    /// Words of questions that ask for a change, whose denial denies no symptom.
    private static let changing: Set = [
        "gone", "help", "helps", "helped", "better", "settled", "stopped", "stop", "still", "improve", "improved",
        "improving", "worse", "away", "resolved", "need", "want", "cleared", "until",
    ]
    private static let definite: Set = ["the", "your", "that", "this", "these", "those", "his", "her", "with"]
    private static let limiting: Set = ["only", "just", "except", "apart", "unless", "when"]
    /// Words between a denial and what it denies.
    private static let asking: Set = [
        "any", "do", "you", "have", "has", "had", "did", "does", "are", "is", "was", "were", "there", "been", "having",
        "get", "getting", "got", "a", "an", "the", "or", "and", "your", "with", "some", "at", "all", "also", "feel",
        "feeling", "experience", "experienced", "notice", "noticed", "of", "in", "no", "ever", "suffer", "suffered",
        "from", "what", "about", "to", "anything", "known", "drug", "problems", "other", "history", "signs", "sign",
        "recent", "he", "she", "his", "her", "my", "i", "it", "really", "new", "evidence", "significant", "report",
    ]

    // MARK: Statements

    private static let filling: Set = [
        "known", "other", "with", "from", "that", "this", "have", "been", "were", "reported", "noted", "recent",
        "history", "current", "currently", "patient", "associated", "significant", "acute",
    ]
    private static let affirming: Set = [
        "but", "however", "although", "reports", "has", "presents", "endorses", "except", "yes", "complains",
    ]
    private static let absences: Set = ["absent", "denied", "negative"]

    /// Symptoms, conditions and allergies of a note's sentence, each with whether it is denied.
    /// Those under a condition, as in "return if there is vomiting", are left out.
    private static func statements(in tokens: [Token]) -> [(term: String, isDenied: Bool)] {
        var found: [(term: String, isDenied: Bool)] = []
        var next = ClinicalTerms.all(in: tokens)[...]
        var isDenied = false
        var place = 0
        while place < tokens.count {
            let start = place
            if let term = next.first, term.range.lowerBound == place {
                next = next.dropFirst()
                let isDeniedBehind = tokens[term.range.upperBound...].prefix(3).contains { absences.contains($0.plain) }
                found.append((term.key, isDenied || isDeniedBehind || tokens[place].plain.hasPrefix("nk")))
                place = term.range.upperBound
            } else {
                let word = tokens[place].plain
                if ["if", "when", "should", "unless"].contains(word) { return found }
                if denials.contains(word) { isDenied = true } else if affirming.contains(word) { isDenied = false }
                place += 1
            }
            if tokens[start..<place].contains(where: { $0.pause >= .end }) { isDenied = false }
        }
        return found
    }
}
