/// Words of a conversation by whether they were affirmed or denied, by the patient or by the clinician.
struct SpokenDenials {
    /// Terms, and single words, with whether they were denied; one can be both denied and affirmed.
    private var terms: [String: Set<Bool>] = [:]
    private var words: [String: Set<Bool>] = [:]
    /// Terms, and single words, of questions without a clear answer, which may have been denied.
    private var askedTerms: Set<String> = []
    private var askedWords: Set<String> = []

    init(_ dialogue: Dialogue) {
        // Questions wait for their answer.
        var questions: [[Token]] = []
        for clause in dialogue.clauses {
            if clause.act == .question {
                questions.append(clause.tokens)
                continue
            }
            for question in questions {
                switch clause.act {
                case .denial: insert(question, isDenied: true)
                case .agreement: insert(question, isDenied: false)
                case .question, .statement: insert(asked: question)
                }
            }
            questions = []
            // The rest of an answer such as "no, I have a cough" stands for itself.
            insert(clause.tokens)
        }
        for question in questions { insert(asked: question) }
    }

    private mutating func insert(asked question: [Token]) {
        askedTerms.formUnion(Self.statements(in: question).map(\.term))
        askedWords.formUnion(question.map(\.plain.wordStem))
    }

    private mutating func insert(_ question: [Token], isDenied: Bool) {
        for statement in Self.statements(in: question) { terms[statement.term, default: []].insert(isDenied) }
        for token in question { words[token.plain.wordStem, default: []].insert(isDenied) }
    }

    private mutating func insert(_ tokens: [Token]) {
        for statement in Self.statements(in: tokens) { terms[statement.term, default: []].insert(statement.isDenied) }
        var isDenied = false
        for token in tokens {
            if Self.denies(token) { isDenied = true } else if Self.affirms(token) { isDenied = false }
            words[token.plain.wordStem, default: []].insert(isDenied)
            if token.pause >= .end { isDenied = false }
        }
    }

    /// Whether a term was denied, or may have been: it was asked about and is affirmed nowhere.
    private func mayBeDenied(_ term: String) -> Bool { Self.mayBeDenied(term, terms, askedTerms) }

    private func mayBeDenied(word: String) -> Bool { Self.mayBeDenied(word, words, askedWords) }

    private static func mayBeDenied(_ key: String, _ known: [String: Set<Bool>], _ asked: Set<String>) -> Bool {
        let said = known[key] ?? []
        return said.contains(true) || said.isEmpty && asked.contains(key)
    }

    /// Whether a statement denies what was not denied, or affirms what was only denied.
    func contradict(_ tokens: [Token]) -> Bool {
        let statements = Self.statements(in: tokens)
        for statement in statements {
            if statement.isDenied {
                let parts = statement.term.split(separator: " ").map(String.init)
                if !mayBeDenied(statement.term), !parts.allSatisfy(mayBeDenied(word:)) { return true }
            } else if terms[statement.term] == [true] {
                return true
            }
        }
        return statements.isEmpty && deniesUnsaid(tokens)
    }

    /// Whether a denial without a known term, such as "no surgery planned", has no word that was denied.
    private func deniesUnsaid(_ tokens: [Token]) -> Bool {
        guard let start = tokens.firstIndex(where: Self.denies) else { return false }
        let content = tokens[(start + 1)...].map(\.plain).filter { $0.count > 3 && !Self.filling.contains($0) }
        return !content.isEmpty && !content.contains { mayBeDenied(word: $0.wordStem) }
    }

    // MARK: Statements

    private static let filling: Set = [
        "known", "other", "with", "from", "that", "this", "have", "been", "were", "reported", "noted", "recent",
        "history", "current", "currently", "patient", "associated", "significant", "acute",
    ]
    private static let denying: Set = ["absent", "negative", "unremarkable"]
    private static let affirming: Set = [
        "but", "however", "although", "reports", "has", "presents", "endorses", "except", "yes", "complains",
    ]
    private static let denials = ClinicalLexicon.negations.union(["none", "nothing", "denying"])

    private static func denies(_ token: Token) -> Bool {
        denials.contains(token.plain) || denying.contains(token.plain)
    }
    private static func affirms(_ token: Token) -> Bool { affirming.contains(token.plain) }

    /// Symptoms, conditions and allergies of a sentence, each with whether it is denied: "no fever, but a cough".
    private static func statements(in tokens: [Token]) -> [(term: String, isDenied: Bool)] {
        var found: [(term: String, isDenied: Bool)] = []
        let ranges = Terms(tokens).all.filter { !$0.kinds.isDisjoint(with: [.symptom, .condition, .bodyComplaint]) }
            .map(\.range)
        var next = ranges[...]
        var isDenied = false
        var place = 0
        while place < tokens.count {
            if let range = next.first, range.lowerBound == place {
                next = next.dropFirst()
                let isDeniedBehind = tokens[range.upperBound...].prefix(3).contains {
                    ["absent", "denied", "negative"].contains($0.plain)
                }
                found.append((tokens[range].map(\.plain.wordStem).joined(separator: " "), isDenied || isDeniedBehind))
                place = range.upperBound
            } else {
                let token = tokens[place]
                if token.plain.hasPrefix("allerg") { found.append(("allerg", isDenied)) }
                if denies(token) { isDenied = true } else if affirms(token) { isDenied = false }
                place += 1
            }
            if tokens[place - 1].pause >= .end { isDenied = false }
        }
        return found
    }
}
