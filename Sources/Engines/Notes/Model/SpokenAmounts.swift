/// Numbers of a text with what they count: the unit of a dose, a span of time, or nothing.
struct SpokenAmounts {
    struct Amount: Hashable {
        /// Digits, such as `500`, `38.2` and `152/94`.
        let value: String
        /// Dose in a form in which equal doses are equal, such as `400000 ug` for 400 mg; nil for no dose.
        let dose: String?
        /// Span of time in such a form, such as `14 day` for two weeks; nil for a number that counts none.
        let span: String?
        /// Whether the number counts something that is neither a dose nor a span, such as times or percent.
        let isCounted: Bool
        let range: Range<Int>

        /// Whether the number stands alone, so that a listener decides what it counts.
        var isBare: Bool { dose == nil && span == nil && !isCounted }
    }

    let all: [Amount]

    init(_ tokens: [Token]) {
        var all: [Amount] = []
        var place = 0
        while place < tokens.count {
            if let (value, end) = Self.number(in: tokens, at: place) {
                let unit = end < tokens.count && tokens[end - 1].pause < .end ? tokens[end].plain : ""
                all.append(Self.amount(value, unit, place..<end))
                place = end
            } else {
                all += Self.numbers(within: tokens[place].plain).map { number in
                    let next = place + 1 < tokens.count ? tokens[place + 1].plain : ""
                    return Self.amount(number.value, number.unit.isEmpty ? next : number.unit, place..<(place + 1))
                }
                place += 1
            }
        }
        self.all = all
    }

    // MARK: Units

    /// Micrograms of each unit of mass.
    private static let masses: [String: Double] = [
        "mcg": 1, "microgram": 1, "µg": 1, "ug": 1, "mg": 1000, "milligram": 1000, "g": 1_000_000, "gram": 1_000_000,
    ]
    private static let measures = [
        "ml": "ml", "millilitre": "ml", "milliliter": "ml", "unit": "unit", "iu": "unit", "puff": "puff",
        "drop": "drop", "tablet": "tablet", "tab": "tablet", "pill": "tablet", "capsule": "tablet",
    ]
    /// Hours of each unit of time; a month and a year have no fixed number.
    private static let spans: [String: (count: Double, unit: String)] = [
        "minute": (1, "minute"), "min": (1, "minute"), "hour": (60, "minute"), "day": (1, "day"), "night": (1, "day"),
        "week": (7, "day"), "fortnight": (14, "day"), "month": (1, "month"), "year": (12, "month"), "yr": (12, "month"),
    ]
    private static let counted: Set = ["time", "percent", "%", "over", "degree", "pack", "cigarette", "pound", "kilo"]

    private static func amount(_ value: String, _ unit: String, _ range: Range<Int>) -> Amount {
        // "mg/day" and "mg per day" are doses, and how often stands behind them.
        let name = String(unit.split(separator: "/").first ?? "").wordStem
        let number = Double(value)
        let dose =
            if let mass = masses[name], let number { "\(digits(number * mass)) ug" } else {
                measures[name].map { "\(value) \($0)" }
            }
        let span = spans[name].flatMap { span in number.map { "\(digits($0 * span.count)) \(span.unit)" } }
        return Amount(value: value, dose: dose, span: span, isCounted: counted.contains(name), range: range)
    }

    // MARK: Numbers

    private static let counting = [
        "once": "1", "twice": "2", "thrice": "3", "couple": "2", "half": "0.5", "dozen": "12",
    ]
    private static let nothing: Set = ["point", "nought", "naught", "nil", "zero", "oh"]

    private static func number(in tokens: [Token], at place: Int) -> (value: String, end: Int)? {
        let word = tokens[place].plain
        if nothing.contains(word), let fraction = fraction(in: tokens, at: place) { return fraction }
        if let value = counting[word] { return (value, place + 1) }
        // "a week ago", but not "a tablet": whole doses are said by their number.
        if word == "a" || word == "an", place + 1 < tokens.count, spans[tokens[place + 1].plain.wordStem] != nil {
            return ("1", place + 1)
        }
        guard let (text, end) = Numbers.value(in: tokens, at: place) else { return nil }
        // A pressure is one value: "80" of "130/80" is no pulse.
        return (text.split(separator: "/").map { normal($0) }.joined(separator: "/"), end)
    }

    /// Reads "point five", "nought point five" and "zero point two five".
    private static func fraction(in tokens: [Token], at place: Int) -> (value: String, end: Int)? {
        var next = place
        while next < tokens.count, nothing.contains(tokens[next].plain), tokens[next].plain != "point" { next += 1 }
        guard next < tokens.count, tokens[next].plain == "point" else { return nil }
        var digits = ""
        next += 1
        while next < tokens.count, let digit = Numbers.values[tokens[next].plain] ?? Int(tokens[next].plain),
            digit < 100
        {
            digits += String(digit)
            next += 1
        }
        return digits.isEmpty ? nil : (normal("0.\(digits)"), next)
    }

    /// Numbers within one word that begins with one: "500mg", "45-year-old", "1,000"; and "two-week".
    private static func numbers(within word: String) -> [(value: String, unit: String)] {
        guard let first = word.unicodeScalars.first else { return [] }
        guard first.isNumeral else {
            let parts = word.split(separator: "-")
            guard parts.count > 1, let value = Numbers.values[String(parts[0])] else { return [] }
            return [(String(value), String(parts[1]))]
        }
        var found: [(String, String)] = []
        var rest = word[...]
        while let start = rest.unicodeScalars.firstIndex(where: \.isNumeral) {
            let number = rest[start...].prefix { $0.unicodeScalars.allSatisfy(\.isNumeral) || $0 == "." || $0 == "," }
            let behind = rest[number.endIndex...].drop { $0 == "-" }
            found.append((normal(number), String(behind.prefix { $0.isLetter || $0 == "/" || $0 == "%" })))
            rest = rest[number.endIndex...]
        }
        return found
    }

    /// A number without commas, leading zeros and zeros behind the point, so that equal ones are written alike.
    private static func normal(_ text: some StringProtocol) -> String {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        // "1,000" has a comma for thousands, "2,5" one for the fraction.
        let plain = parts.dropFirst().allSatisfy { $0.count == 3 } ? parts.joined() : parts.joined(separator: ".")
        let western = String(plain.map { $0.wholeNumberValue.map { Character(String($0)) } ?? $0 })
        return Double(western).map(digits) ?? western
    }

    private static func digits(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return String(value) }
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() ? String(Int64(rounded)) : String(rounded)
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a decimal digit of any script.
    fileprivate var isNumeral: Bool { properties.numericType == .decimal }
}

extension String {
    /// The word without the ending of a plural, of "-ing" or of "-ed", so that "coughs" and "coughing" equal "cough".
    var wordStem: String {
        switch self {
        case "feet": return "foot"
        case "teeth": return "tooth"
        default: break
        }
        for ending in ["ing", "ed"] where count > ending.count + 2 && hasSuffix(ending) {
            return String(dropLast(ending.count)).withoutLastE
        }
        if count > 4, hasSuffix("ies") { return String(dropLast(3)) + "y" }
        return (count > 3 && hasSuffix("s") && !hasSuffix("ss") ? String(dropLast()) : self).withoutLastE
    }

    private var withoutLastE: String { count > 4 && hasSuffix("e") ? String(dropLast()) : self }
}
