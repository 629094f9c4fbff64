/// Splits speech into clauses, with or without punctuation.
enum ClauseSplitting {
    private static let subjects = Lexicon.set("clauses/subjects")
    private static let strongSubjects = Lexicon.set("clauses/strong-subjects")
    private static let binding = Lexicon.set("clauses/binding")
    private static let contrasts = Lexicon.set("clauses/contrasts")
    private static let joining = Lexicon.set("clauses/joining")
    private static let carryingVerbs = Lexicon.set("clauses/carrying-verbs")
    private static let asking = Lexicon.phrases("clauses/asking")
    private static let commanded = Lexicon.set("clinician/advising")
    private static let askingFirst = Lexicon.set("clauses/asking-first")
    private static let notAskedAfter = Lexicon.set("clauses/not-asked-after")
    private static let instructions = Lexicon.phrases("clauses/instructions")
    private static let notInstructedAfter = Lexicon.set("clauses/not-instructed-after")
    private static let no = Lexicon.set("clauses/no")
    private static let noPhrases = Lexicon.phrases("clauses/no-phrases")
    private static let yesPhrases = Lexicon.phrases("clauses/yes-phrases")

    private static let shortYesPhrases = Lexicon.phrases("clauses/short-yes-phrases")

    private static let returning = Lexicon.set("clauses/returning")
    private static let interjections = Lexicon.set("clauses/interjections")
    private static let answerEnds = Lexicon.set("clauses/answer-ends")

    static func clauses(of tokens: [Token]) -> [Dialogue.Clause] {
        var clauses: [Dialogue.Clause] = []
        var current: [Token] = []
        var carries = false

        func close(_ endsAsking: Bool = false) {
            defer {
                current = []
                carries = false
            }
            guard !current.isEmpty else { return }
            let next = clause(current, endsAsking, carries)
            // "You're not getting any chest pain, are you?"
            if next.act == .question, current.count <= 3, isTag(current), let last = clauses.indices.last,
                clauses[last].act == .statement, clauses[last].tokens.last?.pause == .comma
            {
                clauses[last].act = .question
                return
            }
            clauses.append(next)
        }

        // In punctuated text a missing pause is significant.
        let isPunctuated = tokens.contains { $0.pause > .comma }
        var position = 0
        while position < tokens.count {
            let token = tokens[position]
            let previous = current.last
            let next = position + 1 < tokens.count ? tokens[position + 1].plain : nil
            if let previous {
                let afterPause = previous.pause == .comma
                // "Come back at once if …": an instruction keeps its condition.
                let isCondition = token.plain == "if" && current.prefix(2).contains { returning.contains($0.plain) }
                if opensQuestion(tokens, at: position, after: previous, afterPause || !isPunctuated),
                    !isPredicate(of: current, token)
                {
                    close()
                } else if Self.contrasts.contains(token.plain) {
                    close()
                    position += 1
                    continue
                } else if joining.contains(token.plain), let next,
                    subjects.contains(next) && !(next == "no" && token.plain == "or")
                        || token.plain == "and" && carryingVerbs.contains(next),
                    !(previous.plain == "now" || previous.plain == "both")
                {
                    let isCarried = carryingVerbs.contains(next)
                    close()
                    carries = isCarried
                    // "because" carries meaning and stays in the clause.
                    if !["because", "cause", "'cause", "cos"].contains(token.plain) {
                        position += 1
                        continue
                    }
                } else if afterPause && strongSubjects.contains(token.plain)
                    || !isPunctuated && strongSubjects.contains(token.plain) && !binding.contains(previous.plain)
                    || !isPunctuated && token.plain == "if" && !isCondition && !binding.contains(previous.plain)
                    || !isPunctuated && previous.hesitates && current.count > 2 && isQuestion(current, false)
                    || !isPunctuated && !isCondition && !notInstructedAfter.contains(previous.plain)
                        && tokens.end(of: instructions, at: position) != nil
                    || !isPunctuated && interjections.contains(token.plain)
                    || !isPunctuated && ["right", "so"].contains(token.plain) && !binding.contains(previous.plain)
                        && next.map(subjects.contains) ?? false
                {
                    close()
                } else if !isPunctuated, let last = clauses.last, last.act == .question, current.count == 1,
                    no.contains(current[0].plain)
                {
                    // "any fever no | chest pain no"
                    close()
                } else if !isPunctuated || afterPause, no.contains(token.plain),
                    isQuestion(current, false) || afterPause && isAnswered(tokens, at: position)
                        || !isPunctuated && current.count <= 5 && next.map({ answerEnds.contains($0) }) ?? true
                {
                    close()
                }
            }
            current.append(token)
            if token.pause >= .end { close(token.pause == .question) }
            position += 1
        }
        close()
        return clauses
    }

    /// Whether a clause asks to confirm the statement before it: "are you", "is that right".
    private static func isTag(_ tokens: [Token]) -> Bool {
        let words = tokens.map(\.plain)
        guard let first = words.first, words.count > 1 else { return words == ["right"] }
        return [
            "are", "do", "is", "have", "has", "does", "did", "was", "were", "aren't", "don't", "isn't", "haven't",
            "hasn't", "doesn't", "didn't", "wasn't", "can", "can't",
        ].contains(first)
            && (words.count == 2 && ["you", "she", "he", "it", "they", "that", "there"].contains(words[1])
                || words == ["is", "that", "right"] || words == ["is", "that", "correct"])
    }

    /// Whether "no" stands alone: "drooling, no".
    private static func isAnswered(_ tokens: [Token], at position: Int) -> Bool { tokens[position].pause >= .end }

    /// Whether "is the" goes on with a subject: "the gliclazide | is the one that does that".
    private static func isPredicate(of subject: [Token], _ verb: Token) -> Bool {
        ["is", "are", "was", "were"].contains(verb.plain) && (2...4).contains(subject.count)
            && ["the", "your", "my", "his", "her", "this"].contains(subject[0].plain)
            && subject.last?.pause == Token.Pause.none
    }

    private static func opensQuestion(_ tokens: [Token], at position: Int, after previous: Token, _ mayOpen: Bool)
        -> Bool
    {
        guard mayOpen, !notAskedAfter.contains(previous.plain), let end = tokens.end(of: asking, at: position) else {
            return false
        }
        // Within a question, "is it" and "are the" begin no new one: "how long is it".
        return end - position > 1 || tokens[position].plain == "any"
    }

    private static func isQuestion(_ tokens: [Token], _ endsAsking: Bool) -> Bool {
        if endsAsking { return true }
        guard let first = tokens.first else { return false }
        let start = ["and", "so", "okay", "right", "now", "then", "but", "or"].contains(first.plain) ? 1 : 0
        guard start < tokens.count else { return false }
        // "Do finish the course."
        if tokens[start].plain == "do", start + 1 < tokens.count, commanded.contains(tokens[start + 1].plain) {
            return false
        }
        if tokens[start].plain == "when", tokens.count > start + 1, subjects.contains(tokens[start + 1].plain) {
            return false
        }
        return askingFirst.contains(tokens[start].plain)
            && !(tokens[start].plain == "have" && tokens.count > start + 1
                && tokens[start + 1].plain != "you")
            || tokens.end(of: asking, at: start) != nil
    }

    private static func clause(_ tokens: [Token], _ endsAsking: Bool, _ carries: Bool) -> Dialogue.Clause {
        var clause = Dialogue.Clause(tokens: tokens, speaker: .clinician, carriesSubject: carries)
        let first = tokens[0].plain
        if isQuestion(tokens, endsAsking) {
            clause.act = .question
        } else if no.contains(first) || first == "not" && (tokens.count == 1 || tokens[0].pause > .none)
            || tokens.end(of: noPhrases, at: 0) != nil
        {
            clause.act = .denial
        } else if Lexicon.agreeing.contains(first) || tokens.end(of: yesPhrases, at: 0) != nil
            || tokens.end(of: shortYesPhrases, at: 0).map({ $0 == tokens.count || tokens[$0 - 1].pause > .none })
                ?? false
        {
            clause.act = .agreement
        }
        return clause
    }
}
