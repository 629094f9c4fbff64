/// Section of a dictated note, by the heading that is spoken.
enum DictationSection: Hashable, Sendable {
    case complaint, history, pastHistory, medications, allergies, familyHistory, socialHistory, vitals, examination
    case investigations, assessment, plan, advice, followUp

    /// Place in a note. Sections of the background come in any order.
    var order: Int {
        switch self {
        case .complaint: 0
        case .history: 1
        case .pastHistory, .medications, .allergies, .familyHistory, .socialHistory: 2
        case .vitals, .examination: 3
        case .investigations: 4
        case .assessment: 5
        case .plan: 6
        case .advice, .followUp: 6
        }
    }
}

/// Headings as clinicians speak them.
enum DictationHeading {
    /// A heading in a list of words.
    struct Found {
        let section: DictationSection
        /// Index behind the heading's words.
        let end: Int
        /// Whether the words are a part of the statement too: "follow up in two weeks".
        let isSaid: Bool
    }

    private static let phrases = PhraseBook(
        ([
            (
                .complaint,
                """
                complaint, complaints, presenting complaint, presenting complaints, chief complaint, chief complaints, \
                complains of, complaining of, presents with, reason for visit, main complaint
                """
            ),
            (
                .history,
                """
                history, history of presenting illness, history of present illness, history of presenting complaint, \
                hpi, present history, interval history, subjective, background history, birth history, obstetric history, \
                menstrual history, review of systems
                """
            ),
            (
                .pastHistory,
                "past history, past medical history, personal history of, pmh, medical history, past surgical history, surgical history, comorbidities"
            ),
            (
                .medications,
                """
                medications, medication, current medications, current medication, drug history, medicines, \
                regular medications, medication history, drugs, home medications, meds
                """
            ),
            (.allergies, "allergies, allergy, drug allergies, allergic history"),
            (.familyHistory, "family history"),
            (.socialHistory, "social history, personal history"),
            (.vitals, "vitals, vital signs, observations, obs"),
            (
                .examination,
                """
                examination, on examination, on exam, upon examination, on general examination, on physical examination, \
                on local examination, on systemic examination, physical examination, physical exam, exam, general examination, \
                systemic examination, local examination, clinical examination, objective, findings, mental state, \
                mental state examination, mental status exam, mental status examination, neurological examination findings
                """
            ),
            (
                .investigations,
                "investigation, investigations, labs, lab results, blood results, results, imaging, test results, bloods"
            ),
            (
                .assessment,
                """
                impression, assessment, diagnosis, provisional diagnosis, working diagnosis, clinical impression, \
                final diagnosis, assessment and plan, impression and plan, differential diagnosis, differential, differentials
                """
            ),
            (
                .plan,
                "plan, management, management plan, treatment, treatment plan, rx, prescription, recommendations, recommendation"
            ),
            (.advice, "advice, advised, advice to patient, advice to parents, advice given, counselling"),
            (.followUp, "follow up, follow-up, followup, next visit"),
        ] as [(DictationSection, String)]).flatMap { section, phrases in
            phrases.split(separator: ",").map { ($0.split(separator: " ").joined(separator: " "), section) }
        })

    /// Words before which the next word is no heading: "the plan", "no history of".
    private static let before: Set = [
        "the", "a", "an", "my", "his", "her", "their", "our", "this", "that", "no", "of", "in", "for", "with", "any",
        "to", "and", "pre", "post", "known", "significant", "long", "strong", "self", "urgent", "continue", "under",
        "arrange", "book", "on", "further", "repeat", "ongoing", "start", "same", "normal", "await", "awaiting", "per",
        "regarding", "explained", "discussed", "from", "about", "has", "have", "had", "without", "initial", "needs",
        "general", "smoking", "dental", "risk", "was", "been", "received", "after", "failed", "during", "pain",
        "medical",
        "surgical", "previous", "or", "denies", "illicit", "recreational", "sulfa", "penicillin", "peanut", "seasonal",
        "nut",
        "food", "latex", "egg", "milk", "old", "is", "drug",
    ]
    private static let following: Set = ["in", "after", "with", "on", "at"]
    private static let ofVisits: Set = ["case", "visit", "patient", "appointment", "of", "for"]
    /// Words that make "examination" a part of a finding.
    private static let ofExaminations: Set = [
        "neurological", "cardiac", "respiratory", "abdominal", "rectal", "vaginal", "eye", "retinal", "pelvic",
        "breast",
    ]
    /// Words after which the word before is no heading: "history of asthma", "plan to admit".
    private static let after: Set = ["of", "to", "for", "was", "were", "shows", "showed", "and", "given", "done", "by"]
    /// Words between a heading and its statement.
    private static let between: Set = ["is", "are", "include", "includes", "as", "follows", "section"]

    /// Words before which no heading stands, however long.
    private static let denying: Set = ["no", "known", "any", "of", "the", "a", "an", "nil"]

    /// Whether a text is a heading, such as the label of a typed line.
    static func isHeading(_ text: String) -> Bool {
        let tokens = Token.tokens(of: text.lowercased()[...])
        return !tokens.isEmpty && tokens.longest(of: phrases, at: 0)?.phrase.count == tokens.count
    }

    /// The heading that begins at a word.
    /// - Parameters:
    ///   - beginsStatement: Whether a statement ended before the word.
    ///   - section: The section before it.
    static func found(
        in tokens: [Token], at position: Int, beginsStatement: Bool, after section: DictationSection
    ) -> Found? {
        guard let entry = tokens.longest(of: phrases, at: position) else { return nil }
        var end = position + entry.phrase.count
        let next = end < tokens.count ? tokens[end].plain : ""
        let last = position > 0 ? tokens[position - 1].plain : ""
        let isFollowUp = entry.meaning == .followUp
        let isLong = entry.phrase.count > 1 && !isFollowUp
        if !beginsStatement {
            if isLong ? denying.contains(last) : before.contains(last) { return nil }
            if entry.meaning == .examination, !isLong, ofExaminations.contains(last) { return nil }
            // In the middle of a sentence a word alone leads on, and not back: "under the allergy clinic".
            if !isLong, entry.meaning.order < section.order { return nil }
            // "Chief complaint diabetes follow up".
            if isFollowUp, tokens[end - 1].pause >= .comma { return nil }
            if isFollowUp, section == .complaint, !following.contains(next) { return nil }
        }
        if tokens[end - 1].pause == .none, after.contains(next), !isLong { return nil }
        if isFollowUp, ofVisits.contains(next) { return nil }
        if !isFollowUp { while end < tokens.count, between.contains(tokens[end].plain) { end += 1 } }
        return Found(section: entry.meaning, end: end, isSaid: isFollowUp)
    }
}
