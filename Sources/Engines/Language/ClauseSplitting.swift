/// Splits speech into clauses, with or without punctuation.
enum ClauseSplitting {
    private static let subjects: Set = [
        "i", "i'm", "i've", "i'd", "i'll", "he", "she", "he's", "she's", "my", "they", "they're", "there's", "there",
        "it", "it's", "we", "we'll", "we're", "you", "you're", "you've", "your", "that's", "this", "the", "these",
        "let's", "here's", "his", "her", "nothing", "no",
    ]
    /// Subjects that begin a clause without a pause before them.
    private static let strongSubjects: Set = [
        "i", "i'm", "i've", "i'd", "i'll", "he's", "she's", "they", "there's", "it's", "we", "we'll", "we're", "he",
        "she", "let's", "my", "that's",
    ]
    /// Words after which a subject does not begin a clause.
    private static let binding: Set = [
        "and", "or", "that", "if", "when", "think", "thinks", "thought", "because", "to", "with", "of", "in", "for",
        "on", "as", "like", "what", "how", "where", "whether", "than", "so", "since", "while", "after", "before", "do",
        "does", "did", "have", "has", "had", "can", "could", "would", "should", "was", "were", "am", "is", "are",
        "about", "at", "from", "by", "unless", "until", "says", "said", "bit", "move", "feel", "lift", "raise", "stop",
        "hurt", "take", "taking", "through", "across", "gave", "make", "made", "saw", "over", "up", "down", "not",
        "the", "me", "wish", "believe", "know", "guess", "sure", "but", "every", "time", "everything", "all", "worry",
        "worried", "hope", "noticed", "told", "out", "off", "put", "cut", "kept", "keep", "into", "under", "around",
        "see", "check", "book", "test", "call", "help", "brought", "brings", "examine", "use", "using", "lost", "a",
        "your", "my", "both", "whenever", "once", "say", "mentioned", "meant", "even", "then", "where's", "ring",
    ]
    private static let contrasts: Set = ["but", "however", "although", "though", "except", "whereas"]
    private static let joining: Set = ["and", "so", "then", "because", "cause", "'cause", "or", "cos", "plus", "which"]
    /// Verbs that begin a clause after "and", with the subject of the clause before.
    private static let carryingVerbs: Set = [
        "drink", "smoke", "take", "use", "work", "live", "have", "had", "got", "feel", "felt", "started", "stopped",
        "went", "tried", "took", "get", "am", "was", "wake", "eat", "sleep", "can't", "don't", "didn't", "haven't",
        "start", "stop", "continue", "avoid", "keep", "come", "try", "call", "see", "rest", "increase", "reduce",
        "order", "check", "refer", "send", "give", "add", "cut", "increased", "put", "restart", "repeat", "book",
        "ring", "go", "apply", "follow", "elevate", "drinks", "smokes", "takes", "works", "lives", "has", "make",
        "make sure", "need", "want", "noticed", "gets", "feels", "switch", "walk", "exercise", "wear",
    ]
    private static let asking = PhraseBook([
        "any", "do you", "did you", "have you", "has he", "has she", "has it", "are you", "is there", "is he", "is she",
        "does he", "does she", "does it", "do they", "were you", "have there been", "was there", "can you", "had any",
        "could it be", "can i", "how is", "how's", "how are", "how long", "how often", "how much", "how many",
        "how old", "how about", "what about", "what brings", "what are you", "what have you", "what do you",
        "what sort", "what kind", "what's going", "what is", "what happened", "when did", "when was", "where is",
        "where's", "whereabouts", "is it worse", "is it better", "is that", "was that", "did it", "did that",
        "does that", "could you be", "tell me", "how have", "how has", "how did", "and your", "should i", "do i",
        "is your", "are the", "were there", "would you say", "ever had", "and do you", "have they", "did they",
        "has anyone", "what seems", "what can i", "is everything", "what were", "who", "which", "kya", "koi", "is the",
        "are your", "how was", "is he", "have the", "did he", "did she", "was he", "was she", "any other", "whats",
        "what's", "are they", "would you",
    ])
    /// Words that make a question only at the beginning of a clause.
    private static let askingFirst: Set = [
        "what", "how", "when", "where", "why", "which", "who", "do", "does", "did", "is", "are", "was", "were", "have",
        "has", "can", "could", "would", "will", "should", "whereabouts", "any", "whose", "kya", "kab", "kahan",
    ]
    private static let notAskedAfter: Set = [
        "without", "of", "have", "had", "having", "if", "see", "for", "in", "from", "on", "got", "noticed", "taking",
        "take", "get", "there", "not", "don't", "haven't", "denies", "to", "know", "that", "what", "how", "about",
        "didn't", "than", "as", "at", "is", "do", "did", "with", "give", "i", "into", "see", "like", "when",
        "doing", "by", "are", "tell", "wonder", "someone", "people", "sure", "feel", "find", "bring", "me",
        "remember", "was", "were", "cause", "isn't", "i'll", "we'll", "will", "i'd",
    ]
    /// Phrases that begin an instruction, in speech without punctuation.
    private static let instructions = PhraseBook([
        "try to", "don't", "drink plenty", "cut down", "cut back", "keep going", "keep moving", "make sure",
        "take steam", "come back", "put some", "you can still", "you must", "you should", "see you", "avoid",
        "carry on", "let's", "if you get", "if you", "if there", "if it's", "if he's", "if she's", "keep him",
        "keep her", "keep the", "call us", "no antibiotics", "take", "drink", "continue", "i will order", "steam lo",
        "take care", "get some", "drink lots", "and if",
    ])
    private static let notInstructedAfter: Set = [
        "to", "i", "you", "we", "they", "must", "should", "can", "could", "and", "that", "who", "so", "not", "because",
        "or", "it", "just", "don't", "didn't", "can't", "will", "would", "did", "do", "she", "he", "never", "still",
        "also", "have", "how", "what", "a", "the", "i'll", "we'll", "let", "on", "of", "help", "him", "her", "let's",
        "please", "does", "i'd", "go", "i'm", "may", "might", "usually", "only", "always", "sometimes", "if",
    ]
    private static let no: Set = ["no", "nope", "nah", "never", "none", "neither", "nahi", "nahin", "nothing"]
    private static let noPhrases = PhraseBook([
        "not really", "not that i", "not that of", "i don't think so", "don't think so", "i do not think so", "not at",
        "i haven't", "i don't", "not that i'm aware", "i have not", "not me", "not lately", "not recently", "not any",
        "it doesn't", "it does not", "i didn't", "not yet", "not so far", "she hasn't", "he hasn't", "it isn't",
        "it's not", "i'm not", "i am not", "i can't say", "she doesn't", "he doesn't",
    ])
    private static let yesPhrases = PhraseBook([
        "a little", "a bit", "a tiny bit", "sometimes", "occasionally", "of course", "all of them", "that's right",
        "that's correct", "a lot", "definitely", "absolutely", "every now and then", "once in a while", "both",
    ])

    /// Phrases that mean yes only before a pause: "I have a cough" is no answer.
    private static let shortYesPhrases = PhraseBook([
        "i do", "i have", "i did", "i am", "i was", "it does", "it is", "it has", "she does", "he does", "she has",
        "he has",
    ])

    private static let returning: Set = ["come", "call", "ring", "bring", "return", "phone"]
    private static let interjections: Set = [
        "okay", "yeah", "yes", "nope", "congratulations", "understandable", "great",
    ]
    private static let answerEnds: Set = [
        "any", "and", "okay", "do", "does", "is", "no", "have", "what", "how", "are", "allergies", "i", "she", "he",
    ]

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
                if opensQuestion(tokens, at: position, after: previous, afterPause || !isPunctuated) {
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
        if tokens.matches(["do", "not"], at: start) { return false }
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
        } else if ClinicalLexicon.agreeing.contains(first) || tokens.end(of: yesPhrases, at: 0) != nil
            || tokens.end(of: shortYesPhrases, at: 0).map({ $0 == tokens.count || tokens[$0 - 1].pause > .none })
                ?? false
        {
            clause.act = .agreement
        }
        return clause
    }
}
