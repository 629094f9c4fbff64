/// Mention of a medication in one clause, with dose, frequency and change.
struct MedicationMention {
    /// Change to a medication.
    enum Change: String {
        case started, stopped, increased, decreased, continued
    }

    var name: String
    var dose: String?
    var frequency: String?
    var duration: String?
    var change: Change?
    /// Words that the mention was read from.
    var tokens: [Token]
    /// Index of the name in its clause.
    var position = 0
    /// Whether a clinician said it.
    var isOfClinician = false

    private static let forms = Lexicon.set("medicines/forms")
    static let doseUnits = Lexicon.set("medicines/dose-units")
    static let shortUnits = Lexicon.dictionary("medicines/short-units")

    static let schedules = Lexicon.phrases("medicines/schedules")

    /// Most words between a medication's name and its dose.
    private static let reach = 14

    /// Finds all medications that a clause names.
    /// - Parameter known: names of one word that were said before.
    /// - Parameter isTaken: whether words that may be food count, because the clause is about medication that is taken.
    static func all(
        in tokens: [Token], _ terms: Terms, isTaken: Bool, known: Set<String> = []
    ) -> [MedicationMention] {
        var found: [MedicationMention] = []
        var starts: [(start: Int, end: Int)] = []
        var position = 0
        let named = terms.all.filter { !$0.kinds.isDisjoint(with: [.medication, .everydayMedication, .drugGroup]) }
        var next = 0
        while position < tokens.count {
            while next < named.count, named[next].range.lowerBound < position { next += 1 }
            if next < named.count, named[next].range.lowerBound == position {
                let term = named[next]
                let end = term.range.upperBound
                // "The water tablet indapamide", "the brown inhaler, Clenil": the name says which.
                if let last = starts.last, isApposition(tokens, last.end..<position, terms),
                    position == named[next].range.lowerBound,
                    !term.kinds.isDisjoint(with: .medication)
                {
                    starts.removeLast()
                }
                // "betamethasone ointment" is one medication.
                if let last = starts.last, last.end == position, forms.contains(tokens[position].plain) {
                    position = end
                    continue
                }
                if !term.kinds.isDisjoint(with: [.medication, .drugGroup]) || isTaken
                    || dose(in: tokens, at: end) != nil
                {
                    starts.append((position, end))
                }
                position = end
            } else if known.contains(tokens[position].plain) || isUnknownName(tokens, position, terms, isTaken: isTaken)
            {
                if let last = starts.last, isApposition(tokens, last.end..<position, terms) { starts.removeLast() }
                starts.append((position, position + 1))
                position += 1
            } else {
                position += 1
            }
        }
        let leading = starts.enumerated().map { index, start in
            leadingDose(in: tokens, before: start.start, after: index > 0 ? starts[index - 1].end : 0)
        }
        for (index, start) in starts.enumerated() {
            let limit = index + 1 < starts.count ? leading[index + 1]?.start ?? starts[index + 1].start : tokens.count
            found.append(mention(in: tokens, start, before: limit, leading[index]))
        }
        return found
    }

    /// Reads a fragment without a name, "Two tablets.", about the last medication. Nil for any other clause.
    static func fragment(_ tokens: [Token]) -> MedicationMention? {
        var mention = MedicationMention(name: "", tokens: tokens)
        var position = 0
        while position < tokens.count {
            if mention.dose == nil, let dose = dose(in: tokens, at: position) {
                mention.dose = dose.text
                position = dose.end
            } else if let end = frequency(in: tokens, at: position) {
                let text = Array(tokens[position..<end]).text
                mention.frequency = mention.frequency.map { "\($0) \(text)" } ?? text
                position = end
            } else {
                guard position < 3,
                    ["it", "takes", "i", "take", "about", "maybe", "at", "of", "the", "it's"].contains(
                        tokens[position].plain)
                else { return mention.dose != nil ? mention : nil }
                position += 1
            }
        }
        return mention.dose != nil || mention.frequency != nil ? mention : nil
    }

    /// Reads dose, frequency and duration of a clause that names no medication: "double that to 40 mg at night".
    static func fragment(in tokens: [Token]) -> MedicationMention {
        var mention = MedicationMention(name: "", tokens: [])
        var position = 0
        while position < tokens.count {
            if let dose = dose(in: tokens, at: position) {
                mention.dose = dose.text
                mention.tokens += tokens[position..<dose.end]
                position = dose.end
            } else if mention.dose == nil, let dose = bareDose(in: tokens, at: position, after: 0), position > 0 {
                mention.dose = dose.text
                mention.tokens += tokens[position..<dose.end]
                position = dose.end
            } else if let end = frequency(in: tokens, at: position) {
                mention.frequency = Array(tokens[position..<end]).text
                mention.tokens += tokens[position..<end]
                position = end
            } else {
                position += 1
            }
        }
        return mention
    }

    /// Whether a kind of medicine ends right before a name, in the same breath: "the water tablet indapamide".
    private static func isApposition(_ tokens: [Token], _ between: Range<Int>, _ terms: Terms) -> Bool {
        guard between.isEmpty, let group = terms.all.last(where: { $0.range.upperBound == between.lowerBound }) else {
            return false
        }
        return group.kinds.isDisjoint(with: .medication) && group.kinds.contains(.drugGroup)
            && !["and", "or"].contains(tokens[between.lowerBound].plain)
    }

    private static let noNames = Lexicon.set("medicines/no-names")

    private static let naming = Lexicon.set("medicines/naming")

    /// Whether an unknown word counts as a medication: a dose in milligrams or its condition follows, or, behind a
    /// capital letter, any dose.
    private static func isUnknownName(_ tokens: [Token], _ position: Int, _ terms: Terms, isTaken: Bool) -> Bool {
        // Few words have a dose or a condition behind them, so that is looked at first.
        guard position + 1 < tokens.count else { return false }
        let next = tokens[position + 1].plain
        let mayHaveDose = next == "of" || Numbers.isNumber(next) || next.first?.isNumber ?? false
        let mayHaveCondition =
            isTaken && next == "for" && position > 0 && naming.contains(tokens[position - 1].plain)
        let word = tokens[position].plain
        guard mayHaveDose || mayHaveCondition, word.utf8.count > 3, tokens[position].pause < .end,
            !noNames.contains(word), !HindiSpeech.isGrammar(word), word.allSatisfy(\.isLetter), !Numbers.isNumber(word),
            !doseUnits.contains(word)
        else { return false }
        if mayHaveCondition,
            terms.all.contains(where: {
                $0.kinds.contains(.condition) && (position + 2...position + 4).contains($0.range.lowerBound)
            }), !terms.all.contains(where: { $0.range.contains(position) })
        {
            return true
        }
        // "Diclofenac for my shoulder, 50 mg."
        let isPurpose =
            position > 1 && tokens[position - 2].plain == "for"
            && ["my", "your", "the", "his", "her"].contains(tokens[position - 1].plain)
        if isPurpose || terms.all.contains(where: { $0.range.contains(position) }) { return false }
        let start = next == "of" ? position + 2 : position + 1
        guard start < tokens.count,
            Numbers.isNumber(tokens[start].plain) || tokens[start].plain.first?.isNumber ?? false,
            let dose = dose(in: tokens, at: start),
            dose.text.hasSuffix("mg") || dose.text.hasSuffix("mcg")
                || tokens[position].shown.first?.isUppercase ?? false
        else { return false }
        return true
    }

    private static func mention(
        in tokens: [Token], _ name: (start: Int, end: Int), before most: Int,
        _ leading: (text: String, start: Int, frequency: String?)?
    ) -> MedicationMention {
        var end = name.end
        var limit = min(most, end + reach)
        while end < limit, tokens[end - 1].pause == .none, forms.contains(tokens[end].plain) { end += 1 }
        // "slow release" or "d" belongs to the name, and "drops" alone is a dose.
        var mention = MedicationMention(
            name: Array(tokens[name.start..<end]).text, tokens: Array(tokens[name.start..<end]),
            position: name.start)
        var position = end
        while position < limit {
            let isUnlikely = position > end + 5 && mention.dose == nil && mention.frequency == nil
            // "The gliclazide is the one that does that, we'll cut it to 40."
            if isUnlikely, mention.duration == nil, position > end + 8, tokens[position - 1].plain != "to" {
                position += 1
                continue
            }
            if let dose = dose(in: tokens, at: position) ?? bareDose(in: tokens, at: position, after: end) {
                let before = position > 0 ? tokens[position - 1].plain : ""
                if mention.dose == nil || goals.contains(before) {
                    mention.dose = dose.text
                } else if before == "and" && mention.frequency != nil || before == "then",
                    frequency(in: tokens, at: dose.end) != nil
                {
                    // "Ten units in the morning and fourteen units at night", "1.2 mg, then 0.6 mg twice a day".
                    let hasUnit = doseUnits.contains(tokens[dose.end - 1].plain)
                    let text = hasUnit ? dose.text : Self.dose(dose.text, inUnitOf: mention.dose)
                    mention.frequency = (mention.frequency.map { $0 + " " } ?? "") + "\(before) \(text)"
                    limit = min(most, dose.end + reach)
                }
                mention.tokens += tokens[position..<dose.end]
                position = dose.end
            } else if let part = frequency(in: tokens, at: position) {
                let text = Array(tokens[position..<part]).text
                if !(mention.frequency?.contains(text) ?? false) {
                    mention.frequency = mention.frequency.map { "\($0) \(text)" } ?? text
                    mention.tokens += tokens[position..<part]
                }
                position = part
            } else if let part = duration(in: tokens, at: position) {
                if mention.duration == nil || position > 0 && goals.contains(tokens[position - 1].plain) {
                    mention.duration = Array(tokens[position..<part]).text
                    mention.tokens += tokens[position..<part]
                }
                position = part
            } else {
                position += 1
            }
        }
        if mention.dose == nil, let leading {
            mention.dose = leading.text
            mention.frequency = mention.frequency ?? leading.frequency
            mention.tokens = Array(tokens[leading.start..<name.start]) + mention.tokens
        }
        return mention
    }

    private static let goals = Lexicon.set("medicines/goals")

    /// Reads a dose before the name: "500 mg of amoxicillin", "10 mg once a day on the ramipril".
    private static func leadingDose(
        in tokens: [Token], before name: Int, after previous: Int
    ) -> (text: String, start: Int, frequency: String?)? {
        for start in max(previous, name - 8)..<max(previous, name) {
            guard let dose = dose(in: tokens, at: start), dose.end <= name else { continue }
            let rest = frequency(in: tokens, at: dose.end).map { min($0, name) } ?? dose.end
            // "Metformin one gram twice a day, gliclazide": a frequency without "on" belongs to the name before.
            guard rest == dose.end || rest < name,
                tokens[rest..<name].allSatisfy({ ["of", "the", "your", "on"].contains($0.plain) })
            else { continue }
            return (dose.text, start, rest > dose.end ? Array(tokens[dose.end..<rest]).text : nil)
        }
        return nil
    }
}
