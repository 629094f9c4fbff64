/// Lexicon terms in a clause, by the longest matching phrases.
struct Terms {
    struct Kinds: OptionSet, Hashable {
        let rawValue: Int

        static let symptom = Kinds(rawValue: 1 << 0)
        static let bodyPart = Kinds(rawValue: 1 << 1)
        static let bodyComplaint = Kinds(rawValue: 1 << 2)
        static let condition = Kinds(rawValue: 1 << 3)
        static let procedure = Kinds(rawValue: 1 << 4)
        static let medication = Kinds(rawValue: 1 << 5)
        static let everydayMedication = Kinds(rawValue: 1 << 6)
        static let drugGroup = Kinds(rawValue: 1 << 7)
        static let allergen = Kinds(rawValue: 1 << 8)
        static let investigation = Kinds(rawValue: 1 << 9)
        static let specialty = Kinds(rawValue: 1 << 10)
        static let examination = Kinds(rawValue: 1 << 11)
        static let relative = Kinds(rawValue: 1 << 12)
        static let bloodRelative = Kinds(rawValue: 1 << 13)
        static let social = Kinds(rawValue: 1 << 14)
        static let qualifier = Kinds(rawValue: 1 << 15)

        static let drug: Kinds = [.medication, .drugGroup]
    }

    struct Term {
        let kinds: Kinds
        let range: Range<Int>
    }

    let all: [Term]
    /// Kinds of all terms in the clause.
    let kinds: Kinds

    init(_ tokens: [Token]) {
        var all: [Term] = []
        var position = 0
        while position < tokens.count {
            guard let entries = Self.book.entries(beginningWith: tokens[position].plain) else {
                if Self.hasStem(tokens[position].plain) {
                    all.append(Term(kinds: .medication, range: position..<position + 1))
                }
                position += 1
                continue
            }
            var best: PhraseBook<Kinds>.Entry?
            for entry in entries where entry.phrase.count > best?.phrase.count ?? 0 {
                if tokens.matches(entry.phrase, at: position), Self.isUnbroken(tokens, position, entry.phrase.count) {
                    best = entry
                }
            }
            guard let best else {
                position += 1
                continue
            }
            all.append(Term(kinds: best.meaning, range: position..<(position + best.phrase.count)))
            position += best.phrase.count
        }
        self.all = all
        kinds = all.reduce(into: []) { $0.formUnion($1.kinds) }
    }

    private static let stems = Lexicon.set("drug-stems")
    private static let stemEnds = Set(stems.map { end(of: $0.utf8) })
    private static let stemLengths = Set(stems.map(\.utf8.count)).sorted()

    /// Whether a word that the lexicon lacks has the ending of a generic name, such as "ticagrelor".
    private static func hasStem(_ word: String) -> Bool {
        let letters = word.utf8
        // Fast path: few words end as a stem does.
        guard letters.count > 6, stemEnds.contains(end(of: letters)) else { return false }
        return stemLengths.contains { stems.contains(String(letters.suffix($0)) ?? "") }
    }

    /// The last two bytes of a word as one number.
    private static func end(of letters: String.UTF8View) -> Int { letters.suffix(2).reduce(0) { $0 << 8 | Int($1) } }

    private static func isUnbroken(_ tokens: [Token], _ start: Int, _ length: Int) -> Bool {
        tokens[start..<(start + length - 1)].allSatisfy { $0.pause == .none }
    }

    func has(_ wanted: Kinds) -> Bool { !kinds.isDisjoint(with: wanted) }

    func first(_ wanted: Kinds) -> Term? { all.first { !$0.kinds.isDisjoint(with: wanted) } }

    static let book = PhraseBook(kindsByPhrase.map { ($0.key, $0.value) })

    /// Lists of the lexicon with terms, and their kinds.
    private static let lists: [(Kinds, String)] = [
        (.symptom, "symptoms"), (.bodyPart, "body-parts"), (.bodyComplaint, "body-complaints"),
        (.condition, "conditions"), (.procedure, "procedures"), (.medication, "medications"),
        (.everydayMedication, "everyday-medications"), (.drugGroup, "drug-groups"), (.allergen, "allergens"),
        (.investigation, "investigations"), (.specialty, "specialties"), (.examination, "examination"),
        (.relative, "relatives"), ([.relative, .bloodRelative], "blood-relatives"), (.social, "social"),
        (.qualifier, "qualifiers"),
    ]

    /// Kinds of each phrase of the lexicon.
    static let kindsByPhrase: [String: Kinds] = {
        var kinds: [String: Kinds] = [:]
        for (kind, list) in lists {
            for phrase in Lexicon.words(list) { kinds[phrase, default: []].formUnion(kind) }
        }
        return kinds
    }()
}
