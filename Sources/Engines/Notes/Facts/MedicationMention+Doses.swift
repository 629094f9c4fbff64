/// Doses, frequencies and durations of medications.
extension MedicationMention {
    /// Reads a dose with its unit and end: "500 mg", "four hundred milligrams", "two tablets".
    static func dose(in tokens: [Token], at position: Int) -> (text: String, end: Int)? {
        guard position < tokens.count else { return nil }
        let word = tokens[position].plain
        // "500mg" in one word.
        if let first = word.first, first.isNumber {
            let number = word.prefix { $0.isNumber || $0 == "." || $0 == "," }
            let unit = String(word.dropFirst(number.count).drop { $0 == "-" })
            if !unit.isEmpty, doseUnits.contains(unit) {
                return ("\(number) \(shortUnits[unit] ?? unit)", position + 1)
            }
        }
        if word == "a" || word == "an" || word == "half" {
            var next = position + 1
            while next < tokens.count, ["a", "half"].contains(tokens[next].plain) { next += 1 }
            guard next < tokens.count, let unit = shortUnits[tokens[next].plain] else {
                return word == "a" ? hundred(in: tokens, at: position + 1) : nil
            }
            return (tokens[position..<next].contains { $0.plain == "half" } ? "0.5 \(unit)" : "1 \(unit)", next + 1)
        }
        guard let number = number(in: tokens, at: position), number.end < tokens.count,
            tokens[number.end - 1].pause < .end, doseUnits.contains(tokens[number.end].plain)
        else { return nil }
        let unit = tokens[number.end].plain
        return ("\(number.text) \(shortUnits[unit] ?? unit)", number.end + 1)
    }

    /// Reads a number of a dose, also "one and a half". "Five hundred three times a day" is 500.
    private static func number(in tokens: [Token], at position: Int) -> (text: String, end: Int)? {
        guard let number = Numbers.value(in: tokens, at: position) else { return nil }
        if tokens.matches(["and", "a", "half"], at: number.end) { return (number.text + ".5", number.end + 3) }
        guard number.end - position > 1, number.end < tokens.count, tokens[number.end].plain == "times" else {
            return number
        }
        return Numbers.value(in: Array(tokens[..<(number.end - 1)]), at: position)
    }

    /// Reads a dose of hundreds or thousands: "a hundred milligrams".
    private static func hundred(in tokens: [Token], at position: Int) -> (text: String, end: Int)? {
        guard position < tokens.count, ["hundred", "thousand"].contains(tokens[position].plain) else { return nil }
        return dose(in: tokens, at: position)
    }

    /// Reads a number right after the name as milligrams: "azithromycin 250", "lisinopril ten", "bring it up to 20".
    static func bareDose(in tokens: [Token], at position: Int, after name: Int) -> (text: String, end: Int)? {
        let before = position > 0 ? tokens[position - 1].plain : ""
        guard
            position == name || position == name + 1 && ["to", "is", "at", "the", "was"].contains(before)
                || position > name && before == "to"
                    && tokens[..<(position - 1)].suffix(8).contains(where: { turning.contains($0.plain) })
                || position > name && before == "then"
        else { return nil }
        let first = tokens[position].plain == "a" ? position + 1 : position
        guard let number = number(in: tokens, at: first), let value = Double(number.text),
            value >= (first > position ? 100 : before == "then" ? 10 : 2) || number.text.contains("."),
            number.end == tokens.count || tokens[number.end - 1].pause > .none
                || !Numbers.units.contains(tokens[number.end].plain)
                    && !noMilligrams.contains(tokens[number.end].plain)
        else { return nil }
        return (number.text + " mg", number.end)
    }

    /// A number that was said without a unit, in the unit of the dose before it.
    static func dose(_ text: String, inUnitOf first: String?) -> String {
        first?.hasSuffix(" mcg") ?? false && text.hasSuffix(" mg") ? "\(text.dropLast(3)) mcg" : text
    }

    private static let turning = Lexicon.set("medicines/turning")
    private static let noMilligrams = Lexicon.set("medicines/no-milligrams")

    static func frequency(in tokens: [Token], at position: Int) -> Int? {
        if let end = tokens.end(of: schedules, at: position) { return end }
        let words = tokens[position...].prefix(5).map(\.plain)
        if words.starts(with: ["up", "to"]), position + 2 < tokens.count {
            return frequency(in: tokens, at: position + 2)
        }
        if words.count >= 3, Numbers.isNumber(words[0]), words[1] == "times" {
            if words[2] == "daily" { return position + 3 }
            if words.count >= 4, ["a", "per"].contains(words[2]), ["day", "week"].contains(words[3]) {
                return position + 4
            }
        }
        if words.count >= 3, words[0] == "every", Numbers.isNumber(words[1]) {
            if Numbers.units.contains(words[2]) { return position + 3 }
            if words.count == 5, words[2] == "to", Numbers.isNumber(words[3]), Numbers.units.contains(words[4]) {
                return position + 5
            }
        }
        return nil
    }

    /// End of a duration at `position`; nil without one: "for five days", "since March", "for the last two weeks".
    static func duration(in tokens: [Token], at position: Int) -> Int? {
        guard position < tokens.count else { return nil }
        switch tokens[position].plain {
        case "for", "over", "in":
            var end = position + 1
            while end < tokens.count, end < position + 7 {
                let word = tokens[end].plain
                if Numbers.units.contains(word) { return end + 1 }
                guard Numbers.isNumber(word) || Numbers.vague.contains(word) || leading.contains(word) else {
                    return nil
                }
                end += 1
            }
            return nil
        case "since":
            var end = position + 1
            while end < tokens.count, end < position + 6 {
                let word = tokens[end].plain
                guard isDatePart(word) else { break }
                end += 1
                if tokens[end - 1].pause > .none { break }
            }
            return end > position + 1 ? end : nil
        default:
            guard Numbers.isNumber(tokens[position].plain), position + 1 < tokens.count,
                tokens[position].pause == .none,
                Numbers.units.contains(tokens[position + 1].plain)
            else { return nil }
            return position + 2
        }
    }

    private static let leading = Lexicon.set("medicines/leading")
    private static let dateWords = Lexicon.set("medicines/date-words")

    private static func isDatePart(_ word: String) -> Bool {
        dateWords.contains(word) || Numbers.units.contains(word) || Numbers.isNumber(word)
            || Numbers.months.contains(word) || Numbers.weekdays.contains(word) || word.first?.isNumber == true
    }
}
