/// Words that say how often something is taken: "twice a day", "every six hours", "BD".
struct SpokenFrequency {
    /// Number of times a day, so that "BD" equals "twice a day".
    let timesADay: String
    let range: Range<Int>

    private static let words: [String: Double] = [
        "daily": 1, "nightly": 1, "od": 1, "qd": 1, "nocte": 1, "mane": 1, "bd": 2, "bid": 2, "tds": 3, "tid": 3,
        "qds": 4, "qid": 4, "weekly": 1.0 / 7,
    ]
    private static let days: Set = ["day", "night", "morning", "evening", "bedtime", "daily", "24"]
    private static let counts: [String: Double] = ["once": 1, "one": 1, "twice": 2, "thrice": 3]

    /// Finds all frequencies of a text.
    static func all(in tokens: [Token]) -> [SpokenFrequency] {
        var found: [SpokenFrequency] = []
        var place = 0
        while place < tokens.count {
            if let (times, end) = frequency(in: tokens, at: place) {
                found.append(SpokenFrequency(timesADay: String((times * 1000).rounded() / 1000), range: place..<end))
                place = end
            } else {
                place += 1
            }
        }
        return found
    }

    private static func frequency(in tokens: [Token], at place: Int) -> (times: Double, end: Int)? {
        func word(_ offset: Int) -> String {
            place + offset < tokens.count ? tokens[place + offset].plain : ""
        }
        if let times = words[word(0)] { return (times, place + 1) }
        if ["at", "in"].contains(word(0)) {
            let next = word(1) == "the" ? 2 : 1
            return days.contains(word(next)) && word(next) != "day" ? (1, place + next + 1) : nil
        }
        if word(0) == "every" || word(0) == "each" {
            if days.contains(word(1)) { return (1, place + 2) }
            if word(1) == "week" { return (1.0 / 7, place + 2) }
            if ["other", "second"].contains(word(1)), word(2) == "day" { return (0.5, place + 3) }
            if let number = Numbers.value(in: tokens, at: place + 1), let hours = Double(number.text), hours > 0,
                number.end < tokens.count, tokens[number.end].plain.hasPrefix("hour")
            {
                return (24 / hours, number.end + 1)
            }
            return nil
        }
        var (times, end): (Double?, Int) = (counts[word(0)], place + 1)
        if times == nil || word(0) == "one", let number = Numbers.value(in: tokens, at: place),
            number.end < tokens.count, tokens[number.end].plain.hasPrefix("time")
        {
            (times, end) = (Double(number.text), number.end + 1)
        } else if word(0) == "one" {
            times = nil
        }
        guard let times, end < tokens.count else { return nil }
        if ["daily", "nightly"].contains(tokens[end].plain) { return (times, end + 1) }
        if tokens[end].plain == "weekly" { return (times / 7, end + 1) }
        let unit = ["a", "per", "each", "every", "in"].contains(tokens[end].plain) ? end + 1 : end
        guard unit < tokens.count else { return nil }
        if tokens[unit].plain == "day" { return (times, unit + 1) }
        return tokens[unit].plain == "week" ? (times / 7, unit + 1) : nil
    }
}
