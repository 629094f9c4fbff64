/// Symptoms, conditions and allergies in a text, by a key that other words for the same share.
enum ClinicalTerms {
    static func all(in tokens: [Token]) -> [(key: String, range: Range<Int>)] {
        let tokens = tokens.map { token in
            // "My asthma's acting up"
            token.plain.hasSuffix("'s") ? token.replaced(by: String(token.plain.dropLast(2))) : token
        }
        let terms = Terms(tokens).all.filter { !$0.kinds.isDisjoint(with: [.symptom, .condition, .bodyComplaint]) }
            .map(\.range)
        var next = terms[...]
        var found: [(key: String, range: Range<Int>)] = []
        var place = 0
        while place < tokens.count {
            if let range = next.first, range.lowerBound <= place {
                next = next.dropFirst()
                guard range.lowerBound == place else { continue }
                found.append((key(of: tokens[range].map(\.plain)), range))
                place = range.upperBound
            } else {
                let word = tokens[place].plain
                if isAllergy(word) || synonyms[word.wordStem] != nil {
                    found.append((key(of: [word]), place..<(place + 1)))
                }
                place += 1
            }
        }
        return found
    }

    private static func isAllergy(_ word: String) -> Bool {
        word.hasPrefix("allerg") || word == "nkda" || word == "nka"
    }

    private static func key(of words: [String]) -> String {
        if words.contains(where: isAllergy) { return "allergy" }
        let key = words.map(\.wordStem).joined(separator: " ")
        return synonyms[key] ?? key
    }

    /// Other words for a term, by stems.
    private static let synonyms: [String: String] = {
        let groups = [
            [
                "breathless", "breathlessness", "dyspnea", "dyspnoea", "short of breath", "shortness of breath",
                "difficulty breathing", "trouble breathing", "hard to breathe",
            ],
            ["nausea", "nauseous", "nauseated", "feeling sick"],
            ["vomit", "throw up", "threw up", "been sick", "emesis"],
            ["faint", "blackout", "black out", "blacked out", "pass out", "passed out", "syncope", "collapse"],
            ["swelling", "swollen", "oedema", "edema"], ["dizzy", "dizziness", "lightheaded", "light-headed"],
            ["hemoptysis", "haemoptysis", "coughing up blood"], ["dysuria", "painful urination", "burning urination"],
            ["hematuria", "haematuria", "blood in urine", "blood in my urine"],
            [
                "diarrhea", "diarrhoea", "loose stools",
                "loose motions",
            ],
            [
                "suicidal", "suicidal thoughts", "suicidal ideation", "thoughts of suicide", "kill myself",
                "killing myself", "end my life", "thoughts of hurting yourself", "hurting yourself", "harming yourself",
            ],
            ["numb", "numbness"], ["tingling", "pins and needles"], ["tired", "tiredness", "fatigue", "fatigued"],
            ["weak", "weakness"], ["rash", "rashes"], ["phlegm", "sputum", "mucus"], ["fever", "pyrexia", "febrile"],
            ["smoke", "smoker", "smoking"], ["wheeze", "wheezing", "wheezy"],
            ["blurred vision", "blurring", "blurry vision"],
        ]
        let pairs = groups.flatMap { group in
            group.map { phrase in
                (phrase.split(separator: " ").map { String($0).wordStem }.joined(separator: " "), group[0])
            }
        }
        return Dictionary(pairs) { first, _ in first }
    }()
}
