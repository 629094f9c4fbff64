package import ScribeDomain

extension Template {
    /// Vocabulary hints for a recogniser: medication names, which recognisers rarely guess,
    /// if the note has a section for them.
    package var vocabulary: [String] {
        let kinds = Set(sections.flatMap(\.facts))
        return (kinds.contains(.medication) ? Lexicon.words("medications") : [])
            + (kinds.isDisjoint(with: [.assessment, .history]) ? [] : Lexicon.words("conditions"))
    }
}
