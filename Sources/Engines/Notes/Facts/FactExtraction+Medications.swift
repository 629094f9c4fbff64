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
        let mentions = MedicationMention.all(in: tokens, terms, isTaken: isTaken, known: medications.unlisted)
        if !mentions.isEmpty { spokenClause = clauseCount }
        for mention in mentions { medications.add(mention, by: rule) }
    }

    // MARK: Prescriptions

    /// Adds advice against a medication: "no need for an antibiotic".
    private mutating func addRefusal(_ said: [Token]) {
        guard said.count > 2, said[0].plain == "not", said[1].plain == "need" else { return add(.advice, said) }
        add(.advice, said, text: "no need for \(Array(said[2...]).text)")
    }

    private static let instructing = Lexicon.set("medicines/instructing")
    private static let refusing = Lexicon.phrases("medicines/refusing")
    /// Phrases that tell what the patient takes already.
    private static let recounting = Lexicon.phrases("medicines/recounting")
    /// Most clauses between a name and a pronoun that means it.
    private static let reach = 6
    private static let considering = Lexicon.phrases("medicines/considering")

    /// Extracts medications that the clinician starts, changes, continues or stops.
    /// - Returns: whether the clause needs no further reading.
    mutating func readPrescription(_ tokens: [Token], _ terms: Terms, isLabelled: Bool) -> Bool {
        let instructs = tokens.contains(Self.instructing)
        let named = MedicationMention.all(in: tokens, terms, isTaken: instructs, known: medications.unlisted)
        let actions = MedicationActions(tokens, names: named.map(\.position))
        let mentions = named.filter { !actions.isReason($0.position) }
        let isNear = spokenClause + Self.reach >= clauseCount && medications.wasNamedLast
        guard !mentions.isEmpty else {
            // "I'd change that too." – "Rosuvastatin, 5 mg."
            if actions.replacesEarlier, isNear { replacing = clauseCount }
            // "Keep that as it is", "double that to 40 mg".
            guard let change = actions.changeOfEarlier, !actions.staysOff || bodyClause < spokenClause else {
                return false
            }
            var fragment = MedicationMention.fragment(in: tokens)
            guard tokens.count <= (fragment.dose == nil ? 12 : 16) else { return false }
            if let name = medications.named, spokenClause + Self.reach >= clauseCount {
                // "I can prescribe that for you, 10 mg at night" – "The naproxen? Stay off it."
                guard change != .started || fragment.dose != nil else { return false }
                (fragment.name, fragment.change, fragment.tokens) = (name, change, tokens)
                medications.add(fragment, by: rule)
            } else {
                guard change != .started, let last = medications.last, spokenClause + Self.reach >= clauseCount else {
                    return false
                }
                medications.change(last, change, with: fragment, by: rule)
            }
            return tokens.count <= 5 || tokens.contains(where: { MedicationMention.doseUnits.contains($0.plain) })
        }
        spokenClause = clauseCount
        if tokens.contains(anyOf: Self.refusing) {
            addRefusal(NoteVoice.ofClinician(tokens))
            return true
        }
        if tokens.contains(anyOf: Self.considering) {
            add(.plan, NoteVoice.ofClinician(tokens))
            return true
        }
        // "They sent you home on aspirin 75 mg" is no start. Without labels the speaker is a guess.
        lazy var isNews = (isLabelled || instructs) && !tokens.contains(anyOf: Self.recounting)
        var isNew = false
        var namesKnown = false
        if actions.replacesEarlier, isNear { medications.stopLast(tokens, by: rule) }
        for var mention in mentions {
            let isKnown = medications.knows(mention.name)
            var change = actions.change(ofNameAt: mention.position)
            // "Continue metformin, and for the burning pregabalin 75 mg at night."
            if change == .continued, namesKnown, !isKnown, mention.dose != nil { change = nil }
            namesKnown = namesKnown || isKnown
            // "Start" changes no known medication, unless a dose follows.
            mention.isOfClinician = true
            mention.change =
                change == .started && isKnown
                ? nil : change ?? (mention.dose != nil && !isKnown && isNews ? .started : nil)
            let isWorth = mention.dose != nil || mention.frequency != nil || mention.change != nil || isKnown
            if isWorth {
                if !isKnown, mention.change == .started, replacing + 2 >= clauseCount {
                    medications.stopLast(tokens, by: rule)
                    replacing = -2
                }
                medications.add(mention, by: rule)
                isNew = true
            } else if isLabelled, tokens.count <= 10, ["it's", "that's", "this"].contains(tokens.first?.plain) {
                // "That's the ramipril."
                medications.speak(of: mention.name)
            }
        }
        // The rest of a long clause may be advice: "…, just take it with food".
        return isNew || terms.has(.medication)
    }
}
