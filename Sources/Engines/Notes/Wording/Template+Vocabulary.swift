package import ScribeDomain

extension Template {
    /// Vocabulary hints for a recogniser: medication names, which recognisers rarely guess,
    /// if the note has a section for them.
    package var vocabulary: [String] {
        let kinds = Set(sections.flatMap(\.facts))
        return (kinds.contains(.medication) ? ClinicalLexicon.medications.sorted() : [])
            + (kinds.isDisjoint(with: [.assessment, .history]) ? [] : ClinicalLexicon.conditions.sorted())
    }
}
