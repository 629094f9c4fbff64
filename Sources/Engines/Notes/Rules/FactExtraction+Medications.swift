import ScribeDomain

extension FactExtraction {
    private static let takings: Set = ["take", "taking", "took", "on", "inject", "injecting"]
    private static let noNames: Set = ["take", "with", "about", "than", "have", "from", "taking"]
    private static let schedules = PhraseBook(ClinicalLexicon.schedules)

    /// Medications with dose, frequency and duration, as far as they were said.
    static func medications(in speech: Speech) -> [ClinicalFact] {
        let taken = speech.words.firstIndex { takings.contains($0.plain) }
        var facts: [ClinicalFact] = []
        var position = 0
        while position < speech.words.count {
            guard var found = medication(in: speech, at: position) else {
                position += 1
                continue
            }
            var next = found.end
            // What goes on for longer is no prescription.
            scan: while next < speech.words.count, next < found.end + 3, found.end < position + longestPrescription {
                if next > found.end, medication(in: speech, at: next) != nil { break }
                for (part, end) in parts(in: speech, at: next) where found.details[part] == nil || part == "frequency" {
                    let text = speech[next..<end].quotation
                    found.details[part] = found.details[part].map { "\($0) \(text)" } ?? text
                    found.end = end
                    next = end
                    continue scan
                }
                next += 1
            }
            if isTaken(found, from: position, in: speech, isReported: taken.map { $0 < position } ?? false) {
                facts.append(
                    speech[position..<found.end].fact(.medication, details: found.details)
                )
            }
            position = max(found.end, position + 1)
        }
        return facts
    }

    /// In words.
    private static let longestPrescription = 40

    private struct Found {
        var end: Int
        var details: [String: String]
    }

    /// A medication that begins here: "paracetamol", or "500 mg of paracetamol".
    private static func medication(in speech: Speech, at position: Int) -> Found? {
        if let end = nameEnd(in: speech, at: position) {
            return Found(end: end, details: ["name": speech[position..<end].quotation])
        }
        guard let dose = doseEnd(in: speech, at: position) else { return nil }
        let name = dose < speech.words.count && speech.words[dose].plain == "of" ? dose + 1 : dose
        guard name < speech.words.count, isMedication(speech.words[name].plain) else { return nil }
        return Found(
            end: name + 1,
            details: ["name": speech[name..<name + 1].quotation, "dose": speech[position..<dose].quotation]
        )
    }

    /// Not denied; and what may as well be food or a finding has a dose, or is said to be taken.
    /// - Parameter isReported: whether taking is spoken of before.
    private static func isTaken(_ found: Found, from position: Int, in speech: Speech, isReported: Bool) -> Bool {
        let before = speech.words[..<position].suffix(4)
        if before.contains(where: { ClinicalLexicon.negations.contains($0.plain) }) { return false }
        guard found.details.count == 1, let name = found.details["name"]?.lowercased(),
            ClinicalLexicon.everydayMedications.contains(name)
        else { return true }
        return isReported
    }

    static func isMedication(_ word: String) -> Bool {
        ClinicalLexicon.medications.contains(word) || ClinicalLexicon.everydayMedications.contains(word)
    }

    /// Where a medication's name ends that begins here: a known one, or any word that a dose in milligrams follows.
    private static func nameEnd(in speech: Speech, at position: Int) -> Int? {
        let word = speech.words[position].plain
        if isMedication(word) { return position + 1 }
        // What follows is told sooner than what letters a word has.
        guard let dose = doseEnd(in: speech, at: position + 1), word.count > 3, word.allSatisfy(\.isLetter),
            !isNumber(word), !ClinicalLexicon.doseUnits.contains(word), !noNames.contains(word)
        else { return nil }
        let unit = String(speech.words[dose - 1].plain.drop { $0.isNumber || $0 == "." })
        return ["mg", "mcg", "milligram", "milligrams", "microgram", "micrograms"].contains(unit) ? position + 1 : nil
    }

    private static func parts(in speech: Speech, at position: Int) -> [(String, Int)] {
        let ends = [
            ("dose", doseEnd(in: speech, at: position) ?? bareDoseEnd(in: speech, at: position)),
            ("frequency", frequencyEnd(in: speech, at: position)),
            ("duration", durationEnd(in: speech, at: position)),
        ]
        return ends.compactMap { part, end in end.map { (part, $0) } }
    }

    private static func doseEnd(in speech: Speech, at position: Int) -> Int? {
        var end = position
        while end < speech.words.count, end < position + 6 {
            let word = speech.words[end].plain
            if ClinicalLexicon.doseUnits.contains(word) { return end > position ? end + 1 : nil }
            // "500mg" in one word.
            let unit = word.drop { $0.isNumber || $0 == "." }
            if unit.startIndex > word.startIndex, ClinicalLexicon.doseUnits.contains(String(unit)) { return end + 1 }
            guard isNumber(word) else { return nil }
            end += 1
        }
        return nil
    }

    /// "azithromycin 250": a number right after a known name.
    private static func bareDoseEnd(in speech: Speech, at position: Int) -> Int? {
        guard position > 0, isMedication(speech.words[position - 1].plain) else { return nil }
        let word = speech.words[position].plain
        return word.count >= 2 && word.allSatisfy(\.isNumber) ? position + 1 : nil
    }

    private static func frequencyEnd(in speech: Speech, at position: Int) -> Int? {
        if let schedule = speech.longest(of: schedules, at: position) { return position + schedule.phrase.count }
        let words = speech.words[position...].prefix(5).map(\.plain)
        if words.count >= 3, isNumber(words[0]), words[1] == "times" {
            if words[2] == "daily" { return position + 3 }
            if words.count >= 4, ["a", "per"].contains(words[2]), words[3] == "day" { return position + 4 }
        }
        if words.count >= 3, words[0] == "every", isNumber(words[1]) {
            if ClinicalLexicon.timeUnits.contains(words[2]) { return position + 3 }
            if words.count == 5, words[2] == "to", isNumber(words[3]), ClinicalLexicon.timeUnits.contains(words[4]) {
                return position + 5
            }
        }
        return nil
    }
}
