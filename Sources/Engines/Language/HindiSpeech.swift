/// Translates Hindi words among English ones, in both scripts, well enough for a visit in both languages.
///
/// Words are replaced in place. A few patterns are reordered, because Hindi puts "since" and "not" after their words.
enum HindiSpeech {
    private static let words = PhraseBook(Lexicon.pairs("hi/words"))
    private static let marks = Lexicon.set("hi/grammar/marks")
    private static let dropped = Lexicon.set("hi/grammar/dropped")
    private static let joining = Lexicon.dictionary("hi/grammar/joining")
    private static let relatives = Lexicon.dictionary("hi/grammar/relatives")
    private static let units = Lexicon.set("hi/grammar/units")
    private static let moreUnits = Lexicon.dictionary("hi/grammar/more-units")
    /// All English words that translations can produce.
    static let english = Set(
        (Lexicon.pairs("hi/words").map(\.meaning) + Array(relatives.values) + Array(moreUnits.values)
            + Array(joining.values) + ["three times a day", "twice a day", "every daily for no"])
            .flatMap { $0.split(separator: " ").map(String.init) })

    private static let postpositions = [
        "se": "for", "से": "for", "tak": "for", "तक": "for", "baad": "after", "बाद": "after",
    ]
    private static let denials = Lexicon.set("hi/grammar/denials")
    private static let times: Set = ["baar", "बार"]
    private static let daily: Set = ["roz", "रोज", "रोज़"]

    /// Whether a word only joins others in Hindi.
    static func isGrammar(_ word: String) -> Bool { marks.contains(word) || dropped.contains(word) }

    /// Translates the Hindi words of a clause into English.
    static func inEnglish(_ tokens: [Token]) -> [Token] {
        guard tokens.contains(where: { marks.contains($0.plain) || !$0.plain.utf8.allSatisfy { $0 < 0x80 } }) else {
            return tokens
        }
        var result: [Token] = []
        var sentence: [Token] = []
        var deniesLast = false
        // In speech without punctuation, one full stop would make every missing one mean something.
        let isPunctuated = tokens.contains { $0.pause > .comma }
        for token in tokens {
            // The clauses on both sides of "and" may each have a time. A denial ends before it.
            if ["aur", "और", "and"].contains(token.plain) {
                let isDenied = sentence.contains { denials.contains($0.plain) }
                result += translated(sentence)
                sentence = []
                if let last = result.indices.last, isPunctuated, isDenied || result[last].pause == .comma && deniesLast
                {
                    result[last].pause = .end
                }
            }
            sentence.append(token)
            if token.pause > .none {
                deniesLast = sentence.contains { denials.contains($0.plain) }
                result += translated(sentence)
                sentence = []
            }
        }
        return result + translated(sentence)
    }

    private static func translated(_ tokens: [Token]) -> [Token] {
        let isHindi = tokens.indices.contains { index in
            marks.contains(tokens[index].plain) || !tokens[index].plain.utf8.allSatisfy { $0 < 0x80 }
                || tokens.longest(of: Self.words, at: index).map {
                    !english.contains($0.phrase[0]) && $0.phrase != ["do"]
                }
                    ?? false
        }
        guard isHindi, let pause = tokens.last?.pause else { return tokens }
        var words: [Token] = []
        var position = 0
        while position < tokens.count {
            if let entry = tokens.longest(of: Self.words, at: position) {
                let end = position + entry.phrase.count
                var token = tokens[position]
                token.source =
                    token.source.lowerBound..<max(token.source.upperBound, tokens[end - 1].source.upperBound)
                // "do" means two before a countable word; elsewhere it is English.
                if entry.phrase == ["do"], end == tokens.count || tokens.longest(of: Self.words, at: end) == nil,
                    end == tokens.count || moreUnits[tokens[end].plain] == nil && !times.contains(tokens[end].plain)
                {
                    words.append(token)
                } else {
                    for word in entry.meaning.split(separator: " ") { words.append(token.replaced(by: String(word))) }
                }
                position = end
                continue
            }
            let token = tokens[position]
            if let word = joining[token.plain] ?? relatives[token.plain] ?? moreUnits[token.plain] {
                words.append(token.replaced(by: word))
            } else {
                words.append(token)
            }
            position += 1
        }
        return inOrder(words, pause)
    }

    private static func isAmount(_ word: String) -> Bool {
        Numbers.isNumber(word) || MedicationMention.doseUnits.contains(word)
    }

    /// Moves durations to the end and denials to the front, and drops Hindi words without an English equivalent.
    private static func inOrder(_ tokens: [Token], _ pause: Token.Pause) -> [Token] {
        var kept: [Token] = []
        var durations: [Token] = []
        var denial: Token?
        var position = 0
        while position < tokens.count {
            let token = tokens[position]
            let rest = tokens[position...].prefix(4).map(\.plain)
            if rest.count >= 3, Numbers.isNumber(rest[0]), units.contains(rest[1]),
                let word = postpositions[rest[2]]
            {
                let unit = rest[0] == "one" && rest[1].hasSuffix("s") ? String(rest[1].dropLast()) : rest[1]
                durations += [token.replaced(by: word), token, tokens[position + 1].replaced(by: unit)]
                position += 3
            } else if rest.count >= 2, Numbers.weekdays.contains(rest[0]), postpositions[rest[1]] == "for" {
                durations += [token.replaced(by: "since"), token]
                position += 2
            } else if token.plain == "make", token.isChanged {
                // "Metformin ko ek gram kar dijiye": the verb stands behind the dose.
                let start = (kept.lastIndex { !isAmount($0.plain) } ?? -1) + 1
                if start < kept.count {
                    kept.insert(contentsOf: ["make", "to"].map { token.replaced(by: $0) }, at: start)
                }
                position += 1
            } else if rest.count == 4, ["day", "days"].contains(rest[0]), ["mein", "में"].contains(rest[1]),
                Numbers.isNumber(rest[2]), times.contains(rest[3])
            {
                if rest[2] == "two" {
                    kept.append(token.replaced(by: "twice"))
                } else {
                    kept += [tokens[position + 2], token.replaced(by: "times")]
                }
                for word in ["a", "day"] { kept.append(token.replaced(by: word)) }
                position += 4
            } else if rest.starts(with: ["morning", "shaam", "night"]) || rest.starts(with: ["सुबह", "शाम", "रात"]) {
                for word in ["three", "times", "a", "day"] { kept.append(token.replaced(by: word)) }
                position += 3
            } else if rest.starts(with: ["morning", "shaam"]) || token.plain == "subah-shaam" {
                for word in ["twice", "a", "day"] { kept.append(token.replaced(by: word)) }
                position += token.plain == "subah-shaam" ? 1 : 2
            } else if times.contains(token.plain), kept.last.map({ Numbers.isNumber($0.plain) }) ?? false {
                kept.append(token.replaced(by: "times"))
                position += 1
            } else if daily.contains(token.plain) {
                kept.append(token.replaced(by: rest.count > 1 && rest[1] == "morning" ? "every" : "daily"))
                position += 1
            } else if denials.contains(token.plain) || token.plain == "no" && token.isChanged, position > 0 {
                denial = token.replaced(by: "no")
                position += 1
            } else {
                if !dropped.contains(token.plain) { kept.append(token) }
                position += 1
            }
        }
        var result = (denial.map { [$0] } ?? []) + kept + durations
        for index in result.indices { result[index].pause = .none }
        if let last = result.indices.last { result[last].pause = pause }
        return result
    }
}
