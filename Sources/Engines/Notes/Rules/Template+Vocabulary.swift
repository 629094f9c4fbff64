package import ScribeDomain

extension Template {
    /// What a recogniser is told to expect when this note is to be written: names that it would hardly guess, of what
    /// the note has room for.
    package var vocabulary: [String] {
        let kinds = Set(sections.flatMap(\.facts))
        return (kinds.contains(.medication) ? ClinicalLexicon.medications.sorted() : [])
            + (kinds.isDisjoint(with: [.assessment, .history]) ? [] : ClinicalLexicon.conditions.sorted())
    }
}
