extension TemplateSection {
    private typealias Keywords = [(kind: ClinicalFact.Kind, words: [String])]

    /// Kinds of facts in the section. The words of title and description decide for a section that a user made, and
    /// those of the example if neither has a known word. Without any known word the section stays empty, so that no
    /// unrelated fact appears there.
    package var facts: [ClinicalFact.Kind] {
        if let givenFacts { return givenFacts }
        let parts = Self.parts(of: summary)
        var named = Self.kinds(in: title).union(Self.kinds(in: parts.content))
        if named.isEmpty { named = Self.kinds(in: example, by: Self.exampleWords) }
        let excluded = Self.kinds(in: parts.excluded)
        if named.contains(.history), !excluded.isDisjoint(with: Self.histories.map(\.kind)) {
            named.remove(.history)
            named.formUnion([.medicalHistory] + Self.histories.map(\.kind))
        }
        named.subtract(excluded)
        return ClinicalFact.Kind.allCases.filter(named.contains)
    }

    /// Beginnings of words, or of phrases, for each kind.
    private static let keywords: Keywords = [
        (.complaint, ["complaint", "symptom", "presenting", "present illness", "subjective", "reason for"]),
        (.presentIllness, ["present illness", "presenting", "subjective", "hpi"]),
        (.negative, ["present illness", "systems", "subjective", "negatives", "hpi"]),
        (.history, ["history", "subjective", "comorbid"]),
        (.allergy, ["allerg", "intoleran"]),
        (.vital, ["vital"]),
        (.examination, ["exam", "objective", "finding"]),
        (.result, ["result", "lab ", "labs ", "investigation"]),
        (.assessment, ["assessment", "diagnos", "impression"]),
        (.medication, ["medication", "medicine", "prescription", "drug", "treatment", "plan"]),
        (.investigation, ["investigation", "orders", "tests"]),
        (.referral, ["referral"]),
        (.advice, ["advice", "instruction", "counsel", "lifestyle", "plan"]),
        (.returnPrecaution, ["return precaution", "safety net", "red flag", "warning sign"]),
        (.followUp, ["follow", "review", "next visit", "plan"]),
    ]
    /// Parts of a history that have a kind of their own.
    private static let histories: Keywords = [
        (.surgicalHistory, ["surgical", "surgery", "surgeries", "operation"]), (.familyHistory, ["family"]),
        (.socialHistory, ["social"]),
    ]
    /// Words that statements of a kind have.
    private static let exampleWords: Keywords = [
        (.complaint, ["reports", "complains", "presents with"]), (.presentIllness, ["reports", "worse ", "better "]),
        (.negative, ["denies"]), (.familyHistory, ["father", "mother", "brother", "sister"]),
        (.socialHistory, ["smoke", "drinks", "lives "]), (.allergy, ["allergic", "no known allergies"]),
        (.vital, ["blood pressure", "bp ", "pulse", "temperature", "heart rate"]),
        (.assessment, ["likely", "suspected", "diagnosed"]), (.medication, ["mg ", "mcg ", "ml ", "tablet"]),
        (.investigation, ["order ", "x ray", "blood test"]), (.referral, ["refer "]),
        (.followUp, ["come back", "return in", "follow up"]),
    ]

    private static func kinds(in text: some StringProtocol, by keywords: Keywords = Self.keywords)
        -> Set<ClinicalFact.Kind>
    {
        let words = words(of: text)
        let spoken = Array((words.joined(separator: " ") + " ").utf8)
        let starts = words.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.utf8.count + 1) }.dropLast()
        func has(_ phrases: [String]) -> Bool {
            phrases.contains { phrase in starts.contains { spoken[$0...].starts(with: phrase.utf8) } }
        }
        var kinds = Set(keywords.filter { has($0.words) }.map(\.kind))
        // "Present illness" is no history, and "review of systems" is no follow-up visit.
        if has(["present illness"]) { kinds.remove(.history) }
        if has(["systems"]) { kinds.remove(.followUp) }
        let parts = histories.filter { has($0.words) }.map(\.kind)
        if kinds.contains(.history), !parts.isEmpty {
            kinds.remove(.history)
            kinds.formUnion(parts + (has(["medical", "past"]) ? [.medicalHistory] : []))
        }
        return kinds
    }

    /// Words of a text's beginning in lower case. Longer texts are for readers, and would take long to search.
    private static func words(of text: some StringProtocol) -> [Substring] {
        text.prefix(longestText).lowercased().split { !$0.isLetter && !$0.isNumber }
    }

    /// Characters of a title, a description or an example that steer the note.
    private static let longestText = 1000
    private static let exclusions: [[Substring]] = [
        ["without"], ["except"], ["excluding"], ["exclude"], ["leave", "out"], ["leaving", "out"],
        ["do", "not", "include"],
    ]

    /// Splits a description into its content and what it leaves out: "tests and referrals, without medications".
    private static func parts(of description: String) -> (content: String, excluded: String) {
        var (content, excluded): ([Substring], [Substring]) = ([], [])
        for sentence in description.prefix(longestText).split(whereSeparator: { ".;\n".contains($0) }) {
            let words = words(of: sentence)
            let start = words.indices.first { start in exclusions.contains { words[start...].starts(with: $0) } }
            content += words[..<(start ?? words.endIndex)]
            if let start { excluded += words[start...] }
        }
        return (content.joined(separator: " "), excluded.joined(separator: " "))
    }
}

extension TemplateSection.Style {
    /// Style of an example: bullets if it is a list.
    package init(of example: String) {
        let lines = example.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }
        let isList = lines.count > 1 || lines.first?.prefixMatch(of: /\s*(?:[-*•]|\d+[.)])\s/) != nil
        self = isList ? .bullets : .paragraph
    }
}
