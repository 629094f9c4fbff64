/// Section of a dictated note, by the heading that is spoken.
enum DictationSection: String, Hashable, Sendable {
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
        Lexicon.pairs("dictation/headings").compactMap { phrase, section in
            DictationSection(rawValue: section).map { (phrase, $0) }
        })

    private static let before = Lexicon.set("dictation/no-heading-after")
    private static let following = Lexicon.set("dictation/after-follow-up")
    private static let ofVisits = Lexicon.set("dictation/of-visits")
    private static let ofExaminations = Lexicon.set("dictation/of-examinations")
    private static let after = Lexicon.set("dictation/no-heading-before")
    private static let between = Lexicon.set("dictation/after-headings")

    private static let denying = Lexicon.set("dictation/no-long-heading-after")

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
