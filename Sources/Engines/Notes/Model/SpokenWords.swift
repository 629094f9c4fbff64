/// Numbers, medicines, sides and parts of the body among the words of a text, with their places.
struct SpokenWords {
    /// Number with the unit of a dose, if one follows.
    struct Amount: Hashable {
        /// Digits, such as `500` and `38.2`.
        let value: String
        /// Unit in its short form, such as `mg`; nil for a number that is no dose.
        let unit: String?
        let place: Int
    }

    struct Medicine: Hashable {
        let words: [String]
        let place: Int
    }

    /// Left, right or both, with the part of the body beside it.
    struct Side: Hashable {
        let name: String
        let part: String?
        let place: Int
    }

    let tokens: [Token]
    let amounts: [Amount]
    let medicines: [Medicine]
    let sides: [Side]
    private let placesByWord: [String: [Int]]
    private let amountsByValue: [String: [Amount]]

    init(_ tokens: [Token]) {
        self.tokens = tokens
        placesByWord = Dictionary(grouping: tokens.indices) { tokens[$0].plain }
        amounts = Self.amounts(in: tokens)
        amountsByValue = Dictionary(grouping: amounts, by: \.value)
        medicines = Self.medicines(in: tokens)
        sides = tokens.indices.compactMap { place in
            Self.side(at: place, in: tokens).map { name in
                Side(name: name, part: Self.bodyParts(near: place, Self.reach, in: tokens).first, place: place)
            }
        }
    }

    /// Amounts with this value.
    func amounts(of value: String) -> [Amount] { amountsByValue[value] ?? [] }

    /// Parts of the body within a distance in words, the nearest first.
    func bodyParts(near place: Int, _ distance: Int) -> [String] { Self.bodyParts(near: place, distance, in: tokens) }

    private static func bodyParts(near place: Int, _ distance: Int, in tokens: [Token]) -> [String] {
        let window = max(0, place - distance)..<min(tokens.count, place + distance + 1)
        return window.filter { ClinicalLexicon.bodyParts.contains(tokens[$0].plain) }
            .sorted { abs($0 - place) < abs($1 - place) }.map { tokens[$0].plain.wordStem }
    }

    /// Places at which the words follow each other.
    func places(of words: [String]) -> [Int] {
        guard let first = words.first else { return [] }
        return (placesByWord[first] ?? []).filter { tokens.matches(words, at: $0) }
    }

    /// Medicine that a dose belongs to: the last one before it, else the first one behind it.
    func medicine(of amount: Amount) -> Medicine? {
        medicines.last { $0.place < amount.place } ?? medicines.first
    }

    // MARK: Numbers

    private static let units: [String: String] = {
        let names = [
            "mg": ["mg", "milligram", "milligrams"], "mcg": ["mcg", "microgram", "micrograms", "µg", "ug"],
            "g": ["g", "gram", "grams"], "ml": ["ml", "millilitre", "millilitres", "milliliter", "milliliters"],
            "unit": ["unit", "units", "iu"], "puff": ["puff", "puffs"], "drop": ["drop", "drops"],
            "tablet": ["tablet", "tablets", "tab", "tabs", "pill", "pills", "capsule", "capsules"],
        ]
        var units: [String: String] = [:]
        for (short, words) in names { for word in words { units[word] = short } }
        return units
    }()

    private static let counting = [
        "once": "1", "twice": "2", "thrice": "3", "couple": "2", "half": "0.5", "dozen": "12",
    ]

    private static func amounts(in tokens: [Token]) -> [Amount] {
        var amounts: [Amount] = []
        var place = 0
        while place < tokens.count {
            if let (text, end) = Numbers.value(in: tokens, at: place) {
                let unit = end < tokens.count ? units[tokens[end].plain] : nil
                amounts += text.split(separator: "/").map { Amount(value: digits($0), unit: unit, place: place) }
                place = end
                continue
            }
            let word = tokens[place].plain
            if let value = counting[word] {
                amounts.append(Amount(value: value, unit: nil, place: place))
            } else {
                let next = place + 1 < tokens.count ? units[tokens[place + 1].plain] : nil
                amounts += numbers(within: word).map { Amount(value: $0.value, unit: $0.unit ?? next, place: place) }
            }
            place += 1
        }
        return amounts
    }

    /// Numbers within one word: "500mg", "45-year-old", "1,000", "two-week".
    private static func numbers(within word: String) -> [(value: String, unit: String?)] {
        var found: [(String, String?)] = []
        var rest = word[...]
        while let start = rest.firstIndex(where: \.isASCIIDigit) {
            let number = rest[start...].prefix { $0.isASCIIDigit || $0 == "." || $0 == "," }
            let suffix = rest[number.endIndex...].prefix(while: \.isLetter)
            found.append((digits(number), units[String(suffix)]))
            rest = rest[number.endIndex...]
        }
        if found.isEmpty {
            found = word.split(separator: "-").compactMap { Numbers.values[String($0)] }.map { (String($0), nil) }
        }
        return found
    }

    /// A number without commas, leading zeros and zeros behind the point, so that equal ones are written alike.
    private static func digits(_ text: Substring) -> String {
        let plain = text.filter { $0 != "," }
        guard let value = Double(plain), value.isFinite, value < 1e15 else { return String(plain) }
        return value == value.rounded() ? String(Int64(value)) : String(value)
    }

    // MARK: Medicines

    /// Endings of international nonproprietary names (WHO's stems), for medicines that the lexicon lacks.
    private static let stems = [
        "pril", "prilat", "olol", "statin", "cillin", "mycin", "micin", "conazole", "prazole", "sartan", "gliptin",
        "gliflozin", "glutide", "oxetine", "zepam", "zolam", "dipine", "floxacin", "cycline", "tidine", "setron",
        "triptan", "parin", "xaban", "gatran", "profen", "fenac", "coxib", "barbital", "dronate", "thiazide", "lukast",
        "terol", "sone", "solone", "mab", "tinib", "vir", "formin",
    ]

    private static func medicines(in tokens: [Token]) -> [Medicine] {
        let known = Terms(tokens).all.filter { $0.kinds.contains(.medication) }.map(\.range)
        let covered = Set(known.joined())
        let others = tokens.indices.filter { place in
            let word = tokens[place].plain
            return word.utf8.count > 6 && !covered.contains(place) && stems.contains(where: word.hasSuffix)
        }
        return (known + others.map { $0..<($0 + 1) }).sorted { $0.lowerBound < $1.lowerBound }.map { range in
            Medicine(words: tokens[range].map(\.plain), place: range.lowerBound)
        }
    }

    // MARK: Sides

    /// Farthest distance of a side from its part of the body in one statement, in words.
    private static let reach = 4
    /// Words after which "right" is no side.
    private static let beforeNoSide: Set = ["all", "that's", "is", "are", "you're", "i'm", "not", "be"]
    private static let afterNoSide: Set = ["now", "away", "so", "okay", "then", "there", "here", "to", "after"]

    private static func side(at place: Int, in tokens: [Token]) -> String? {
        switch tokens[place].plain {
        case "left", "left-sided": return "left"
        case "right-sided": return "right"
        case "bilateral", "bilaterally", "both": return "both"
        case "right":
            // "Right, let me see" and "right now"
            if tokens[place].pause > .none, place == 0 || tokens[place - 1].pause > .none { return nil }
            if place > 0, beforeNoSide.contains(tokens[place - 1].plain) { return nil }
            if place + 1 < tokens.count, afterNoSide.contains(tokens[place + 1].plain) { return nil }
            return "right"
        default: return nil
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}

extension String {
    /// The word without the ending of a plural or of "-ing", so that "coughs" and "coughing" equal "cough".
    var wordStem: String {
        if count > 5, hasSuffix("ing") { return String(dropLast(3)) }
        if count > 4, hasSuffix("ies") { return String(dropLast(3)) + "y" }
        return count > 3 && hasSuffix("s") && !hasSuffix("ss") ? String(dropLast()) : self
    }
}
