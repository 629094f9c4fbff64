import ScribeDomain

/// Finds what is of medical meaning in a transcript. Every fact quotes words that were spoken; nothing is added.
struct FactExtraction {
    private typealias Opening = (topic: ClinicalLexicon.Topic, phrase: [String])

    private static let openings: [Opening] = ClinicalLexicon.openings
        .flatMap { opening in opening.phrases.map { (opening.topic, $0.split(separator: " ").map(String.init)) } }
    private static let complaints = ClinicalLexicon.complaints.map { $0.split(separator: " ").map(String.init) }
    private static let schedules = ClinicalLexicon.schedules.map { $0.split(separator: " ").map(String.init) }

    /// Facts in the order in which they were said, each once.
    static func facts(in transcript: String) -> [ClinicalFact] {
        var seen = Set<String>()
        return Speech.sentences(of: transcript)
            .flatMap(facts(in:))
            .filter { seen.insert("\($0.kind) \($0.text.lowercased())").inserted }
    }

    private static func facts(in sentence: Speech) -> [ClinicalFact] {
        if sentence.words.last?.spoken.last == "?" { return [] }
        return stretches(of: sentence).flatMap { topic, speech -> [ClinicalFact] in
            switch topic {
            case .fact(let kind):
                let text = trimmed(speech).quotation
                return text.isEmpty ? [] : [ClinicalFact(kind, text)]
            case .statement:
                let medications = medications(in: speech)
                return medications.isEmpty ? complaints(in: speech) : medications
            case .instruction:
                let medications = medications(in: speech)
                if !medications.isEmpty { return medications }
                let advice = trimmed(speech)
                return advice.words.count > 1 ? [ClinicalFact(.advice, advice.quotation)] : []
            case .question:
                return []
            }
        }
    }

    /// Cuts a sentence where a new topic opens, so that speech without punctuation is understood too.
    private static func stretches(of sentence: Speech) -> [(ClinicalLexicon.Topic, Speech)] {
        var result: [(topic: ClinicalLexicon.Topic, start: Int)] = [(.statement, 0)]
        var position = 0
        while position < sentence.words.count {
            guard let opening = opening(in: sentence, at: position) else {
                position += 1
                continue
            }
            if let last = result.last,
                !isContinued(last.topic, from: last.start, by: opening, at: position, in: sentence)
            {
                result.append((opening.topic, position))
            }
            position += opening.phrase.count
        }
        return result.enumerated().compactMap { index, stretch in
            let end = index + 1 < result.count ? result[index + 1].start : sentence.words.count
            return end > stretch.start ? (stretch.topic, sentence[stretch.start..<end]) : nil
        }
    }

    /// Whether what opens here still belongs to what was said before: "come back for a | review in one week".
    private static func isContinued(
        _ topic: ClinicalLexicon.Topic, from start: Int, by opening: Opening, at position: Int, in sentence: Speech
    ) -> Bool {
        if opening.topic == .statement { return topic == .fact(.followUp) || topic == .question }
        guard opening.topic == topic, case .fact = topic else { return false }
        return !sentence.words[start..<position].contains { $0.plain == "and" }
    }

    private static func opening(in sentence: Speech, at position: Int) -> Opening? {
        let found = openings.filter { sentence.matches($0.phrase, at: position) }
            .max { $0.phrase.count < $1.phrase.count }
        guard let found else { return nil }
        let previous = position > 0 ? sentence.words[position - 1].plain : nil
        switch found.topic {
        case .instruction:
            return previous.map(ClinicalLexicon.reporters.contains) ?? false ? nil : found
        case .question:
            // "I know how": only an opening word asks.
            return position == 0 || found.phrase.count > 1 ? found : nil
        case .fact, .statement:
            return found
        }
    }

    /// Without the words that lead over to the next stretch.
    private static func trimmed(_ speech: Speech) -> Speech {
        let leading: Set<String> = ["and", "but", "so", "then", "also", "please", "i", "was", "have", "a", "the", "am"]
        var speech = speech
        while let last = speech.words.last, leading.contains(last.plain) { speech.words.removeLast() }
        return speech
    }

    // MARK: Complaints

    private static func complaints(in speech: Speech) -> [ClinicalFact] {
        var facts: [ClinicalFact] = []
        var position = 0
        while position < speech.words.count {
            let match = complaints.filter { speech.matches($0, at: position) }.max { $0.count < $1.count }
            guard let match else {
                position += 1
                continue
            }
            var start = position
            while start > 0, ClinicalLexicon.complaintQualifiers.contains(speech.words[start - 1].plain) { start -= 1 }
            let end = position + match.count
            position = end
            let before = speech.words[max(0, start - 4)..<start].map(\.plain)
            if before.contains(where: ClinicalLexicon.negations.contains) { continue }
            let name = speech[start..<end].quotation
            if let duration = duration(in: speech, from: end) {
                facts.append(
                    ClinicalFact(.complaint, "\(name) \(duration)", details: ["name": name, "duration": duration])
                )
            } else {
                facts.append(ClinicalFact(.complaint, name, details: ["name": name]))
            }
        }
        return facts
    }

    /// "for three days" or "since Monday", before another complaint is named.
    private static func duration(in speech: Speech, from start: Int) -> String? {
        for position in start..<min(speech.words.count, start + 6) {
            if complaints.contains(where: { speech.matches($0, at: position) }) { return nil }
            if let end = durationEnd(in: speech, at: position) { return speech[position..<end].quotation }
        }
        return nil
    }

    private static func durationEnd(in speech: Speech, at position: Int) -> Int? {
        switch speech.words[position].plain {
        case "for":
            var end = position + 1
            while end < speech.words.count, end < position + 6 {
                let word = speech.words[end].plain
                if ClinicalLexicon.timeUnits.contains(word) { return end + 1 }
                guard isNumber(word) || ["the", "last", "past", "about", "of", "almost", "nearly"].contains(word) else {
                    return nil
                }
                end += 1
            }
            return nil
        case "since":
            var end = position + 1
            while end < speech.words.count, end < position + 4 {
                let word = speech.words[end]
                if ["and", "but", "with", "i", "my"].contains(word.plain) { break }
                end += 1
                if word.plain != word.spoken.lowercased() { break }
                if !["last", "the", "yesterday", "this", "two", "three", "a"].contains(word.plain) { break }
            }
            return end > position + 1 ? end : nil
        default:
            return nil
        }
    }

    // MARK: Medications

    private static func medications(in speech: Speech) -> [ClinicalFact] {
        var facts: [ClinicalFact] = []
        var position = 0
        while position < speech.words.count {
            guard let name = medicationName(in: speech, at: position) else {
                position += 1
                continue
            }
            let before = speech.words[max(0, position - 4)..<position].map(\.plain)
            var details = ["name": speech[position..<name].quotation]
            var end = name
            var next = name
            scan: while next < speech.words.count, next < end + 3 {
                if next > name, medicationName(in: speech, at: next) != nil { break }
                for (part, partEnd) in parts(in: speech, at: next) where partEnd > next {
                    let text = speech[next..<partEnd].quotation
                    details[part] = details[part].map { "\($0) \(text)" } ?? text
                    end = partEnd
                    next = partEnd
                    continue scan
                }
                next += 1
            }
            if !before.contains(where: ClinicalLexicon.negations.contains) {
                facts.append(ClinicalFact(.medication, speech[position..<end].quotation, details: details))
            }
            position = max(end, position + 1)
        }
        return facts
    }

    /// Where a medication's name ends that begins here: a known one, or any word that a dose follows.
    private static func medicationName(in speech: Speech, at position: Int) -> Int? {
        let word = speech.words[position].plain
        if ClinicalLexicon.medications.contains(word) { return position + 1 }
        guard word.count > 3, word.allSatisfy(\.isLetter), !isNumber(word),
            !ClinicalLexicon.doseUnits.contains(word), !["take", "with", "about", "than", "have"].contains(word)
        else { return nil }
        guard let dose = doseEnd(in: speech, at: position + 1) else { return nil }
        let unit = String(speech.words[dose - 1].plain.drop { $0.isNumber || $0 == "." })
        return ["mg", "mcg", "milligram", "milligrams", "microgram", "micrograms"].contains(unit) ? position + 1 : nil
    }

    private static func parts(in speech: Speech, at position: Int) -> [(String, Int)] {
        [
            ("dose", doseEnd(in: speech, at: position) ?? position),
            ("frequency", frequencyEnd(in: speech, at: position) ?? position),
            ("duration", durationEnd(in: speech, at: position) ?? position),
        ]
    }

    private static func doseEnd(in speech: Speech, at position: Int) -> Int? {
        var end = position
        while end < speech.words.count, end < position + 6 {
            let word = speech.words[end].plain
            if ClinicalLexicon.doseUnits.contains(word) { return end > position ? end + 1 : nil }
            // "500mg" in one word.
            let unit = word.drop { $0.isNumber || $0 == "." }
            if unit.count < word.count, ClinicalLexicon.doseUnits.contains(String(unit)) { return end + 1 }
            guard isNumber(word) else { return nil }
            end += 1
        }
        return nil
    }

    private static func frequencyEnd(in speech: Speech, at position: Int) -> Int? {
        if let schedule = schedules.filter({ speech.matches($0, at: position) }).max(by: { $0.count < $1.count }) {
            return position + schedule.count
        }
        let words = speech.words[position...].prefix(4).map(\.plain)
        if words.count >= 3, isNumber(words[0]), words[1] == "times" {
            if words[2] == "daily" { return position + 3 }
            if words.count == 4, ["a", "per"].contains(words[2]), words[3] == "day" { return position + 4 }
        }
        if words.count >= 3, words[0] == "every", isNumber(words[1]), ClinicalLexicon.timeUnits.contains(words[2]) {
            return position + 3
        }
        return nil
    }

    private static func isNumber(_ word: String) -> Bool {
        ClinicalLexicon.numbers.contains(word) || Double(word) != nil
            || word.split(separator: "-").allSatisfy { ClinicalLexicon.numbers.contains(String($0)) } && !word.isEmpty
    }
}
