/// Rewrites speech as statements of a note: in the third person, without lead-ins.
///
/// The rewriting adds no findings. `voice.txt` lists the words that a note may add.
enum NoteVoice {
    /// Words without meaning of their own at the beginning of a clause.
    private static let idle: Set = [
        "yes", "yeah", "yep", "yup", "okay", "well", "so", "and", "but", "like", "right", "now", "then", "or", "good",
        "great", "sure", "correct", "alas", "um-hum", "congratulations", "understandable", "mm-hmm", "uh-huh", "mhm",
        "because", "cause", "'cause", "cos", "also", "again", "please", "perfect", "sorry", "wow", "theek", "haan",
    ]

    /// Lead-ins of patients, with their replacements in a note.
    static let patientLeads = PhraseBook(
        [
            ("i have been having", ""), ("i've been having", ""), ("i've been getting", ""),
            ("i have been getting", ""), ("i am having", ""), ("i'm having", ""), ("i'm getting", ""),
            ("i have had", ""), ("i've had", ""), ("i've got", ""), ("i have got", ""), ("i have", ""),
            ("i have a history of", "history of"), ("i get", ""), ("i also have", ""), ("i do have", ""),
            ("i've been", "has been"), ("i have been", "has been"), ("i've", "has"), ("i'm", "is"), ("i am", "is"),
            ("i'm allergic", "allergic"), ("i am allergic", "allergic"), ("i'm not allergic", "not allergic"),
            ("i am not allergic", "not allergic"), ("i was", "was"), ("i had", "had"), ("i've noticed", "has noticed"),
            ("there's", ""), ("there is", ""), ("there are", ""), ("there was", "had"), ("it's my", ""),
            ("it's the", ""), ("it's a", ""), ("it's an", ""), ("i've come about", ""), ("i'm here for", ""),
            ("i came in for", ""), ("it's been", "it has been"), ("it's", "it is"), ("i have this", ""),
            ("i've got this", ""), ("i've been getting this", ""), ("i think i've got", "thinks of"),
            ("i think i have", "thinks of"), ("i think it's", "thinks it is"), ("i think", "thinks"),
            ("that's", "that is"), ("my name is", "name"), ("i'd", "would"), ("i'll", "will"), ("i would say", ""),
            ("i'd say", ""), ("i feel like", "feels like"), ("i still have", "still has"),
            ("i still get", "still gets"), ("i'm still", "is still"),
        ].map { ($0.0, $0.1) })
    /// Lead-ins of clinicians, which are dropped.
    private static let clinicianLeads = PhraseBook(
        [
            "i think", "i believe", "i would say", "i'd say", "i'd call it", "i would call it", "it looks like",
            "this looks like", "looks like", "it sounds like", "sounds like", "this sounds like", "it seems like",
            "this seems to be", "it seems to be", "seems like", "i suspect", "i'm thinking", "i do think", "this is",
            "it's", "it is", "that's", "that is", "you have", "you've got", "you've", "you are", "there's", "there is",
            "there are", "i see", "i hear", "i can see", "i can hear", "i feel", "i do hear", "i do see", "i note",
            "i notice", "i find", "we'll", "we will", "i'll", "i will", "i'm going to", "i am going to",
            "we're going to", "we are going to", "i want you to", "i'd like you to", "i would like you to", "i want to",
            "i'd like to", "i would like to", "let's", "let us", "you should", "you need to", "you must", "you can",
            "you could", "make sure", "i am giving you", "i'm giving you", "i'll give you", "i will give you",
            "i'm going to give you", "i'm gonna", "we're gonna", "gonna", "going to", "i'm starting you on",
            "i will prescribe", "i'm prescribing", "i'm gonna go ahead and", "go ahead and", "we can", "i can",
            "we could", "i could", "we should", "i'd", "i would", "i also want to", "i also want you to", "on your",
            "your", "my", "that", "i know that", "i know", "it appears", "i'd recommend", "i recommend",
            "i would recommend", "i want", "i'd like", "i would like", "we need to", "i need you to",
            "what i'd like to do is", "the first thing i'd like to do is", "so far", "it looks as if", "you know",
            "i mean", "i did", "i do", "i'm", "we", "they", "start by", "i'm also going to", "i have", "we have", "do",
            "does it look", "here", "of", "i", "me", "you're going to", "you", "it may be", "the diagnosis is", "then",
            "what i'm going to do is", "i went over", "and", "i am", "be sure to", "please", "remember to", "the", "a",
            "an", "some", "any", "go on and", "otherwise", "so i'm", "i'm sending you", "in fact", "it does look like",
            "i'm glad to hear that", "glad to hear that", "good to hear that", "on examination", "on exam",
            "examination shows",
        ].map { ($0, "") })

    static let thirdPerson = [
        "take": "takes", "feel": "feels", "get": "gets", "go": "goes", "use": "uses", "want": "wants", "need": "needs",
        "work": "works", "live": "lives", "smoke": "smokes", "drink": "drinks", "eat": "eats", "sleep": "sleeps",
        "wake": "wakes", "walk": "walks", "think": "thinks", "notice": "notices", "try": "tries", "keep": "keeps",
        "know": "knows", "have": "has", "do": "does", "like": "likes", "see": "sees", "start": "starts", "run": "runs",
        "stand": "stands", "sit": "sits", "come": "comes", "stop": "stops", "am": "is", "don't": "does not",
        "haven't": "has not",
    ]
    /// Pronouns of the first and second person, with their third person.
    static let pronouns = [
        "i'm": "patient is", "i've": "patient has", "i'd": "patient would", "i'll": "patient will", "me": "patient",
        "my": "the", "mine": "theirs", "myself": "self", "we": "they", "our": "their", "us": "them",
        "we're": "they are", "we've": "they have", "we'll": "they will", "you": "one", "your": "the",
        "you're": "one is",
        "yourself": "self", "yours": "theirs", "you've": "one has", "you'll": "one will", "you'd": "one would",
    ]
    /// Pronouns of clinicians: "call me" is "call clinic", and "you" is the patient.
    static let cliniciansPronouns = pronouns.merging(
        [
            "i'm": "clinician is", "i've": "clinician has", "i'd": "clinician would", "i'll": "clinician will",
            "me": "clinic", "us": "clinic", "we": "clinic", "we're": "clinic is", "we've": "clinic has",
            "we'll": "clinic will", "you": "patient", "you're": "patient is", "you've": "patient has",
            "you'll": "patient will", "you'd": "patient would",
        ], uniquingKeysWith: { _, clinicians in clinicians })
    static let whole = [
        "don't": "do not", "doesn't": "does not", "didn't": "did not", "can't": "cannot", "haven't": "have not",
        "hasn't": "has not", "isn't": "is not", "aren't": "are not", "wasn't": "was not", "weren't": "were not",
        "won't": "will not", "couldn't": "could not", "wouldn't": "would not", "it's": "it is", "that's": "that is",
        "there's": "there is", "she's": "she is", "he's": "he is", "they're": "they are", "gonna": "going to",
        "wanna": "want to", "gotta": "got to", "shouldn't": "should not", "hadn't": "had not", "let's": "",
    ]
    static let articles: Set = ["a", "an", "the"]
    /// Words after which "she's" is "she has".
    private static let participles: Set = [
        "been", "had", "got", "lost", "gone", "become", "started", "stopped", "taken", "noticed", "vomited", "fallen",
    ]

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
        return withoutLongCopies(tokens)
    }

    private static let openers: Set = [
        "i", "i'm", "i've", "i'll", "i'd", "you", "you're", "your", "we", "we'll", "it", "it's", "this", "that",
        "that's", "there's",
        "my", "he", "she", "he's", "she's", "they", "let's", "what", "how", "any", "do", "did", "no", "the",
    ]

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

    private static let adverbs: Set = [
        "really", "just", "also", "still", "always", "usually", "only", "never", "often", "sometimes", "ever",
    ]
    private static let verbsOfThey: Set = [
        "are", "were", "aren't", "weren't", "rest", "pass", "lie", "bend", "move", "lift", "turn", "breathe", "cough",
        "swallow", "hear", "look", "talk", "touch", "press", "play", "drive", "cook", "wash", "brush", "exercise",
        "vomit", "bleed", "sneeze", "urinate", "pee", "scratch", "sweat", "shake", "climb", "stretch", "reach", "carry",
        "hold", "ask", "say", "tell", "give", "bring", "leave", "watch", "worry", "remember", "forget", "understand",
        "guess", "hope", "enjoy", "love", "prefer", "avoid", "skip", "miss", "wear", "experience", "suffer", "tend",
        "seem", "mean", "make", "wait", "open", "close", "push", "pull", "squeeze", "twist", "kneel", "squat", "jump",
        "stay", "throw", "write", "develop", "become", "begin", "find", "lose", "bite", "chew", "laugh", "cry", "speak",
    ]

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
