import ScribeDomain

/// Extracts medications, and the conditions that they are for.
extension FactExtraction {
    /// Conditions for which people take a medicine for years.
    private static let lasting = PhraseBook([
        "diabetes", "blood pressure", "high blood pressure", "cholesterol", "thyroid", "asthma", "epilepsy", "gout",
        "depression", "anxiety", "copd", "heart failure", "arthritis", "reflux", "sugar",
    ])

    /// Notes the lasting condition that a medicine is for: "metformin for diabetes".
    mutating func addIndication(of tokens: [Token]) {
        guard let start = tokens.firstIndex(where: { $0.plain == "for" }), start + 1 < tokens.count else { return }
        let rest = Array(tokens[(start + 1)...].drop { ["my", "the", "his", "her"].contains($0.plain) })
        guard let end = rest.end(of: Self.lasting, at: 0) else { return }
        add(.medicalHistory, Array(rest[..<end]))
    }

    /// Extracts the medications of a clause.
    /// - Returns: whether the clause names any.
    @discardableResult
    mutating func readMedications(
        _ tokens: [Token], _ terms: Terms, isTaken: Bool, change: MedicationMention.Change?
    ) -> Bool {
        let mentions = MedicationMention.all(in: tokens, terms, isTaken: isTaken)
        for var mention in mentions {
            mention.change = change ?? mention.change
            medications.add(mention)
        }
        return !mentions.isEmpty
    }
}
