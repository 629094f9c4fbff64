import ScribeDomain

extension FactExtraction {
    private static let complaintPhrases = PhraseBook(ClinicalLexicon.complaints)

    /// What the patient suffers from, each with how long it has lasted if that was said.
    static func complaints(in speech: Speech) -> [ClinicalFact] {
        let assertions = Assertions(of: speech)
        var facts: [ClinicalFact] = []
        var position = 0
        while position < speech.words.count {
            guard let range = complaint(in: speech, at: position) else {
                position += 1
                continue
            }
            position = range.upperBound
            let after = speech.words[range.upperBound...].prefix(3).map(\.plain)
            guard assertions[range.lowerBound], !after.contains(where: ClinicalLexicon.resolutions.contains)
            else { continue }
            let name = speech[range].quotation
            if let duration = duration(in: speech, from: range.upperBound) {
                facts.append(
                    ClinicalFact(
                        .complaint, "\(name) \(duration.quotation)",
                        details: ["name": name, "duration": duration.quotation],
                        source: Speech(words: speech[range].words + duration.words).source)
                )
            } else {
                facts.append(ClinicalFact(.complaint, name, details: ["name": name], source: speech[range].source))
            }
        }
        return facts
    }

    private static let mostQualifiers = 6

    /// The words of a complaint that is named at `position`, with those that qualify it.
    private static func complaint(in speech: Speech, at position: Int) -> Range<Int>? {
        var start = position
        let end: Int
        if let match = speech.longest(of: complaintPhrases, at: position) {
            end = position + match.phrase.count
        } else if ClinicalLexicon.bodyParts.contains(speech.words[position].plain),
            let verb = speech.words[(position + 1)...].prefix(3)
                .firstIndex(where: { ClinicalLexicon.bodyComplaints.contains($0.plain) })
        {
            // "left knee hurts", "knee is swollen"
            end = verb + 1
        } else {
            return nil
        }
        while start > max(0, position - mostQualifiers),
            ClinicalLexicon.complaintQualifiers.contains(speech.words[start - 1].plain)
        {
            start -= 1
        }
        return start..<end
    }

    /// "for three days" or "since Monday", in the same breath and before another complaint is named.
    private static func duration(in speech: Speech, from start: Int) -> Speech? {
        for position in start..<min(speech.words.count, start + 6) {
            if position > start, speech.words[position - 1].endsClause { return nil }
            if complaint(in: speech, at: position) != nil { return nil }
            if let end = durationEnd(in: speech, at: position) { return speech[position..<end] }
        }
        return nil
    }

    /// Where a duration ends that begins at `position`.
    static func durationEnd(in speech: Speech, at position: Int) -> Int? {
        switch speech.words[position].plain {
        case "for":
            var end = position + 1
            while end < speech.words.count, end < position + 7 {
                let word = speech.words[end].plain
                if ClinicalLexicon.timeUnits.contains(word) { return end + 1 }
                let leading = ["the", "last", "past", "about", "of", "almost", "nearly", "to", "or", "another"]
                guard isNumber(word) || leading.contains(word) else { return nil }
                end += 1
            }
            return nil
        case "since":
            var end = position + 1
            while end < speech.words.count, end < position + 6 {
                let word = speech.words[end]
                guard isDatePart(word.plain) else { break }
                end += 1
                if word.endsClause { break }
            }
            return end > position + 1 ? end : nil
        default:
            return nil
        }
    }

    private static func isDatePart(_ word: String) -> Bool {
        if ClinicalLexicon.dateWords.contains(word) || ClinicalLexicon.timeUnits.contains(word) { return true }
        // "2019", "3rd"
        return isNumber(word) || word.first?.isNumber == true
    }

    static func isNumber(_ word: String) -> Bool {
        let parts = word.split(ascii: "-")
        return !parts.isEmpty
            && parts.allSatisfy { Double($0) != nil || ClinicalLexicon.numbers.contains(String($0)) }
    }
}
