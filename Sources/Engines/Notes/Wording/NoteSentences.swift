import ScribeDomain

/// Writes facts as sentences of a paragraph.
enum NoteSentences {
    private static let verbs = Lexicon.set("sentences/verbs")
    private static let finite = Lexicon.set("sentences/finite")
    private static let openings = Lexicon.set("sentences/openings")
    private static let afterVerbs = Lexicon.set("sentences/after-verbs")

    /// Joins facts into a paragraph; consecutive denials share a sentence.
    static func paragraph(_ facts: [ClinicalFact]) -> String {
        var sentences: [String] = []
        var denied: [String] = []
        func close() {
            guard !denied.isEmpty else { return }
            // At most five denials share a sentence, because long lists are hard to read.
            for start in stride(from: 0, to: denied.count, by: 5) {
                let part = denied[start..<min(start + 5, denied.count)]
                let list =
                    part.count == 1
                    ? part.first ?? "" : part.dropLast().joined(separator: ", ") + " or " + (part.last ?? "")
                sentences.append("The patient denies \(list).")
            }
            denied = []
        }
        for fact in facts {
            if fact.kind == .negative, let name = fact.details["name"] {
                denied.append(name)
            } else {
                close()
                sentences.append(sentence(fact))
            }
        }
        close()
        return sentences.joined(separator: " ")
    }

    private static func sentence(_ fact: ClinicalFact) -> String {
        let words = fact.text.split(separator: " ", maxSplits: 6).map(String.init)
        guard let first = words.first else { return "" }
        switch fact.kind {
        case .chiefComplaint, .complaint, .presentIllness:
            let isPast = first.hasSuffix("ed") && words.count > 1 && afterVerbs.contains(words[1])
            if verbs.contains(first) || isPast { return "The patient \(fact.text)." }
            if openings.contains(first) || words.dropFirst().contains(where: finite.contains) {
                return capitalised(fact.text) + "."
            }
            return "The patient reports \(fact.text)."
        default:
            return capitalised(fact.text) + "."
        }
    }

    private static func capitalised(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
