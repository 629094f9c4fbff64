/// Rewrites speech as statements of a note: in the third person, without lead-ins.
///
/// The rewriting adds no findings. `voice.txt` lists the words that a note may add.
enum NoteVoice {
    private static let idle = Lexicon.set("wording/idle")

    static let patientLeads = PhraseBook(Lexicon.pairs("wording/patient-leads"))
    private static let clinicianLeads = PhraseBook(Lexicon.words("wording/clinician-leads").map { ($0, "") })

    static let thirdPerson = Lexicon.dictionary("wording/third-person")
    static let pronouns = Lexicon.dictionary("wording/pronouns")
    static let cliniciansPronouns = pronouns.merging(
        Lexicon.pairs("wording/clinicians-pronouns"), uniquingKeysWith: { _, clinicians in clinicians })
    static let whole = Lexicon.dictionary("wording/whole")
    static let articles: Set = ["a", "an", "the"]
    private static let participles = Lexicon.set("wording/participles")

    /// Rewrites a statement of a patient or a companion.
    /// - Parameter carries: whether the clause before has the subject.
    static func ofPatient(_ tokens: [Token], carries: Bool = false) -> [Token] {
        var tokens = withoutLeads(tokens, patientLeads, rounds: 2)
        if carries || tokens.first?.plain == "i" {
            if tokens.first?.plain == "i" { tokens.removeFirst() }
            if let first = tokens.first, let verb = thirdPerson[first.plain] {
                tokens.replaceSubrange(0..<1, with: words(verb, in: first))
            }
        }
        return finished(tokens)
    }

    /// Rewrites a statement of a clinician.
    static func ofClinician(_ tokens: [Token]) -> [Token] {
        finished(withoutLeads(tokens, clinicianLeads, rounds: 6), by: .clinician)
    }

    /// Rewrites a clause in the third person, without idle words at its ends and without long verbatim copies.
    static func finished(_ tokens: [Token], by speaker: Dialogue.Speaker = .patient) -> [Token] {
        var tokens = inThirdPerson(withoutIdle(tokens), speaker)
        while let first = tokens.first, articles.contains(first.plain), tokens.count > 1 { tokens.removeFirst() }
        return withoutLongCopies(withDigits(tokens))
    }

    /// Writes numbers as digits: "thirty-eight point nine" is 38.9.
    /// - Parameter above: the largest whole number that stays a word; nil for all.
    static func withDigits(_ tokens: [Token], above limit: Double? = nil) -> [Token] {
        guard limit != nil || tokens.contains(where: { $0.plain == "point" }) else { return tokens }
        return tokens.replacingNumbers { text, range in
            guard let value = Double(text) else { return false }
            return (text.contains(".") || value > limit ?? .infinity) && text != tokens[range.lowerBound].plain
        }
    }

    private static let openers = Lexicon.set("wording/openers")

    static func withoutIdle(_ tokens: [Token]) -> [Token] {
        var rest = tokens[...]
        while let first = rest.first, idle.contains(first.plain), rest.count > 1 {
            // "right" before a noun and "like a seal" are no idle words.
            if first.pause == .none, ["right", "like", "good"].contains(first.plain),
                !idle.contains(rest[rest.startIndex + 1].plain), !openers.contains(rest[rest.startIndex + 1].plain)
            {
                break
            }
            rest.removeFirst()
        }
        while let last = rest.last, rest.count > 1,
            [
                "okay", "right", "though", "now", "and", "so", "but", "you", "the", "a", "then", "too", "or", "i", "to",
                "because", "um-hum", "here", "please", "of", "with", "is", "that's", "it's", "for", "my", "your",
            ].contains(last.plain)
        {
            rest.removeLast()
        }
        return Array(rest)
    }

    private static func withoutLeads(_ tokens: [Token], _ leads: PhraseBook<String>, rounds: Int) -> [Token] {
        var tokens = withoutIdle(tokens)
        for _ in 0..<rounds {
            guard let first = tokens.first,
                let lead = leads.entries(beginningWith: first.plain)?
                    .filter({ tokens.matches($0.phrase, at: 0) && $0.phrase.count < tokens.count })
                    .max(by: { $0.phrase.count < $1.phrase.count })
            else { break }
            tokens.replaceSubrange(0..<lead.phrase.count, with: words(lead.meaning, in: first))
            tokens = withoutIdle(tokens)
            if !lead.meaning.isEmpty { break }
        }
        return tokens
    }

    private static func words(_ text: String, in token: Token) -> [Token] {
        text.split(separator: " ").map { token.replaced(by: String($0)) }
    }

    private static func inThirdPerson(_ tokens: [Token], _ speaker: Dialogue.Speaker) -> [Token] {
        let pronouns = speaker == .clinician ? cliniciansPronouns : pronouns
        var result: [Token] = []
        result.reserveCapacity(tokens.count)
        var afterSubject = false
        for (index, token) in tokens.enumerated() {
            var replacement: String?
            if token.plain.hasSuffix("'s"), index + 1 < tokens.count, participles.contains(tokens[index + 1].plain),
                ["she's", "he's", "it's", "that's", "there's"].contains(token.plain)
            {
                replacement = "\(token.plain.dropLast(2)) has"
            } else if token.plain == "i" {
                replacement = subject(speaker == .clinician ? "clinician" : "patient", before: tokens[(index + 1)...])
            } else if token.plain == "you", let one = pronouns["you"], !isObject(after: result.last) {
                replacement = subject(one, before: tokens[(index + 1)...])
            } else if afterSubject, let verb = thirdPerson[token.plain] {
                replacement = verb
            } else {
                replacement = pronouns[token.plain] ?? whole[token.plain]
            }
            afterSubject = token.plain == "i" || token.plain == "you" && !isObject(after: result.last)
            guard let replacement else {
                result.append(token)
                continue
            }
            var new = words(replacement, in: token)
            if let last = new.indices.last { new[last].pause = token.pause }
            result += new
        }
        return result
    }

    /// Whether a pronoun after a word is no subject: "give you", "for you".
    private static func isObject(after word: Token?) -> Bool {
        word.map { ["to", "for", "with", "of", "give", "see", "help", "let"].contains($0.plain) } ?? false
    }

    /// Names the subject of a verb. Before a verb without a known third person it is "they": "when they cough".
    private static func subject(_ name: String, before words: ArraySlice<Token>) -> String {
        guard let verb = words.first(where: { !adverbs.contains($0.plain) }) else { return name }
        return name != "clinician" && verbsOfThey.contains(verb.plain) ? "they" : name
    }

    private static let adverbs = Lexicon.set("wording/adverbs")
    private static let verbsOfThey = Lexicon.set("wording/verbs-of-they")

    // MARK: Verbatim copies

    /// Most words of a note that may follow each other as they were said.
    private static let longestCopy = 8
    /// Most words of a run in which nothing is dispensable. One sentence in ten may have one.
    private static let longestRun = 10
    /// Words that a note can drop, the most dispensable first.
    private static let dispensable: [Set<String>] = [
        ["the"], ["that", "so", "very", "some", "there", "then", "any", "which", "all", "still"],
    ]
    /// Words that a note drops only from a longer run, because their absence reads badly.
    private static let needed: [Set<String>] = [
        ["a", "an", "got", "up"],
        ["is", "are", "was", "were", "it", "been", "of", "have", "has", "had", "do", "did"],
        ["and", "or", "to", "in", "on", "at", "for", "with"],
    ]

    /// Shortens runs of more than eight verbatim words: a note must not be an extract.
    static func withoutLongCopies(_ tokens: [Token]) -> [Token] {
        guard tokens.count > longestCopy else { return tokens }
        var result: [Token] = []
        var run = 0
        for token in tokens {
            let follows = result.last.map { !$0.isChanged && $0.ordinal + 1 == token.ordinal } ?? false
            run = token.isChanged ? 0 : follows ? run + 1 : 1
            result.append(token)
            guard run > longestCopy else { continue }
            // Neither the first nor the last word of the run, which would leave the run whole.
            let range = (result.count - run + 1)..<(result.count - 1)
            let droppable = run > longestRun ? dispensable + needed : dispensable
            if let index = droppable.lazy.compactMap({ words in
                range.last { words.contains(result[$0].plain) }
            }).first {
                run = result.count - 1 - index
                result.remove(at: index)
            } else if run > longestRun {
                run = 1
            }
        }
        return result
    }
}
