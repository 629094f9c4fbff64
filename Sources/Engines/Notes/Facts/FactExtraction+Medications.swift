import ScribeDomain

/// Extracts medications, and the conditions that they are for.
extension FactExtraction {
    private static let lasting = Lexicon.phrases("medicines/lasting")

    /// Notes the lasting condition that a medicine is for: "metformin for diabetes".
    mutating func addIndication(of tokens: [Token]) {
        guard let start = tokens.firstIndex(where: { $0.plain == "for" }), start + 1 < tokens.count else { return }
        let rest = Array(tokens[(start + 1)...].drop { ["my", "the", "his", "her"].contains($0.plain) })
        guard let end = rest.end(of: Self.lasting, at: 0) else { return }
        add(.medicalHistory, Array(rest[..<end]))
    }

    /// Extracts the medications of a clause.
    mutating func readMedications(_ tokens: [Token], _ terms: Terms, isTaken: Bool) {
        for mention in MedicationMention.all(in: tokens, terms, isTaken: isTaken) { medications.add(mention, by: rule) }
    }

    // MARK: Prescriptions

    /// Adds advice against a medication: "no need for an antibiotic".
    private mutating func addRefusal(_ said: [Token]) {
        guard said.count > 2, said[0].plain == "not", said[1].plain == "need" else { return add(.advice, said) }
        add(.advice, said, text: "no need for \(Array(said[2...]).text)")
    }

    private static let instructing = Lexicon.set("medicines/instructing")
    private static let refusing = Lexicon.phrases("medicines/refusing")
    private static let considering = Lexicon.phrases("medicines/considering")

    /// Extracts medications that the clinician starts, changes, continues or stops.
    /// - Returns: whether the clause needs no further reading.
    mutating func readPrescription(_ tokens: [Token], _ terms: Terms) -> Bool {
        let instructs = tokens.contains(Self.instructing)
        let named = MedicationMention.all(in: tokens, terms, isTaken: instructs)
        let actions = MedicationActions(tokens, names: named.map(\.position))
        let mentions = named.filter { !actions.isReason($0.position) }
        guard !mentions.isEmpty else {
            // "Keep that as it is", "double that to 40 mg".
            guard let change = actions.changeOfEarlier, let last = medications.last, tokens.count <= 12 else {
                return false
            }
            medications.change(last, change, with: MedicationMention.fragment(in: tokens), by: rule)
            return tokens.count <= 5 || tokens.contains(where: { MedicationMention.doseUnits.contains($0.plain) })
        }
        if tokens.contains(anyOf: Self.refusing) {
            addRefusal(NoteVoice.ofClinician(tokens))
            return true
        }
        if tokens.contains(anyOf: Self.considering) {
            add(.plan, NoteVoice.ofClinician(tokens))
            return true
        }
        var isNew = false
        for var mention in mentions {
            let isKnown = medications.knows(mention.name)
            let change = actions.change(ofNameAt: mention.position)
            // "Start" changes no known medication, unless a dose follows.
            mention.change =
                change == .started && isKnown ? nil : change ?? (mention.dose != nil && !isKnown ? .started : nil)
            let isWorth = mention.dose != nil || mention.frequency != nil || mention.change != nil || isKnown
            if isWorth {
                medications.add(mention, by: rule)
                isNew = true
            }
        }
        // The rest of a long clause may be advice: "…, just take it with food".
        return isNew || terms.has(.medication)
    }
}
