/// Vocabulary of the rules: lower-case phrases of whole words.
enum ClinicalLexicon {
    /// Words of agreement that begin an answer.
    static let agreeing: Set = [
        "yes", "yeah", "yep", "yup", "haan", "correct", "uh-huh", "mm-hmm", "sure", "mhm", "aye",
    ]
    static let negations: Set<String> = [
        "no", "not", "never", "without", "nor", "neither", "deny", "denies", "denied", "don't", "didn't", "isn't",
        "aren't", "wasn't", "weren't", "haven't", "hasn't", "hadn't", "doesn't", "can't", "cannot", "couldn't",
        "won't", "wouldn't",
    ]
}
