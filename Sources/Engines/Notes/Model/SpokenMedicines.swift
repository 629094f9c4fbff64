/// Medicines of a text, each with the doses, times of day and changes that were said of it.
struct SpokenMedicines {
    struct Medicine: Hashable {
        let words: [String]
        let range: Range<Int>
        /// Whether the words are everyday ones, such as "cream", which a note may use for a named medicine.
        let isEveryday: Bool
    }

    /// Change of a medicine that was said, or that it is taken.
    enum Action: Hashable {
        case take, stop, increase, reduce
    }

    struct Details {
        /// Doses in the form of ``SpokenAmounts/Amount/dose``, and bare numbers right behind the name.
        var doses: Set<String> = []
        /// Times a day.
        var frequencies: Set<String> = []
        var actions: Set<Action> = []
    }

    let all: [Medicine]
    private(set) var details: [[String]: Details] = [:]
    /// Doses that belong to no medicine nearby, as in "increase it to 10 mg".
    private(set) var looseDoses: Set<String> = []

    /// Farthest distances, in words, of a dose from a medicine before and behind it.
    private static let before = 12
    private static let behind = 5

    init(_ tokens: [Token], _ amounts: [SpokenAmounts.Amount], _ frequencies: [SpokenFrequency]) {
        all = Self.medicines(in: tokens)
        for amount in amounts where amount.dose != nil || amount.isBare {
            let dose = amount.dose ?? amount.value
            if let medicine = medicine(of: amount, in: tokens) {
                details[medicine.words, default: Details()].doses.insert(dose)
            } else if amount.dose != nil {
                looseDoses.insert(dose)
            }
        }
        for frequency in frequencies {
            guard let medicine = last(before: frequency.range.lowerBound, within: Self.before + 3) else { continue }
            details[medicine.words, default: Details()].frequencies.insert(frequency.timesADay)
        }
        for (index, medicine) in all.enumerated() {
            let start = index > 0 ? all[index - 1].range.upperBound : 0
            if let action = Self.action(before: medicine.range.lowerBound, from: start, in: tokens) {
                details[medicine.words, default: Details()].actions.insert(action)
            }
            if let action = Self.action(behind: medicine.range.upperBound, in: tokens) {
                details[medicine.words, default: Details()].actions.insert(action)
            }
        }
    }

    /// Medicine that a dose belongs to; nil for a number with none near it.
    func medicine(of amount: SpokenAmounts.Amount, in tokens: [Token]) -> Medicine? {
        let place = amount.range.lowerBound
        // A bare number is a dose right behind the name only.
        guard amount.dose != nil else { return last(before: place, within: 1) }
        let end = amount.range.upperBound + 1
        if end < tokens.count, tokens[end].plain == "of", let next = first(behind: end, within: 2) { return next }
        return last(before: place, within: Self.before) ?? first(behind: end, within: Self.behind)
    }

    private func last(before place: Int, within distance: Int) -> Medicine? {
        let index = all.partition(before: place)
        guard index > 0, place - all[index - 1].range.upperBound <= distance else { return nil }
        return all[index - 1]
    }

    private func first(behind place: Int, within distance: Int) -> Medicine? {
        let index = all.partition(before: place)
        guard index < all.count, all[index].range.lowerBound - place <= distance else { return nil }
        return all[index]
    }

    // MARK: Names

    /// Endings of international nonproprietary names (WHO's stems), for medicines that the lexicon lacks.
    private static let stems = [
        "pril", "prilat", "olol", "statin", "cillin", "mycin", "micin", "conazole", "prazole", "sartan", "gliptin",
        "gliflozin", "glutide", "oxetine", "zepam", "zolam", "dipine", "floxacin", "cycline", "tidine", "setron",
        "triptan", "parin", "xaban", "gatran", "profen", "fenac", "coxib", "barbital", "dronate", "thiazide", "lukast",
        "meterol", "sone", "solone", "mab", "tinib", "ciclovir", "formin",
    ]

    private static func medicines(in tokens: [Token]) -> [Medicine] {
        let known = Terms(tokens).all.filter { !$0.kinds.isDisjoint(with: [.medication, .everydayMedication]) }
        let covered = Set(known.map(\.range).joined())
        let others = tokens.indices.filter { place in
            let word = tokens[place].plain
            return word.utf8.count > 6 && !covered.contains(place) && stems.contains(where: word.hasSuffix)
        }
        let ranges = known.map { ($0.range, !$0.kinds.contains(.medication)) } + others.map { ($0..<($0 + 1), false) }
        return ranges.sorted { $0.0.lowerBound < $1.0.lowerBound }.map { range, isEveryday in
            Medicine(words: tokens[range].map(\.plain), range: range, isEveryday: isEveryday)
        }
    }

    // MARK: Actions

    private static let verbs: [String: Action] = {
        let words: [(Action, [String])] = [
            (
                .take,
                ["take", "start", "begin", "commence", "try", "give", "prescribe", "add", "continue", "keep", "carry"]
            ),
            (.stop, ["stop", "discontinue", "hold", "cease", "avoid"]), (.increase, ["increase"]),
            (.reduce, ["reduce", "decrease", "lower", "halve"]),
        ]
        return Dictionary(words.flatMap { action, words in words.map { ($0.wordStem, action) } }) { first, _ in first }
    }()
    private static let denials: Set = ["not", "don't", "never", "no", "without", "won't", "shouldn't", "mustn't"]

    private static func action(before place: Int, from start: Int, in tokens: [Token]) -> Action? {
        var found: Action?
        for index in stride(from: place - 1, through: max(start, place - 7), by: -1) {
            if tokens[index].pause >= .end { break }
            let word = tokens[index].plain
            if let action = verbs[word.wordStem] {
                if found == nil { found = action } else { break }
            } else if let action = found, denials.contains(word) {
                return action == .stop ? .take : .stop
            }
        }
        return found
    }

    /// Reads "goes up to", "is reduced" and "was stopped" behind a medicine.
    private static func action(behind place: Int, in tokens: [Token]) -> Action? {
        for index in place..<min(tokens.count, place + 4) {
            if index > place, tokens[index - 1].pause > .none { return nil }
            switch tokens[index].plain {
            case "up", "increased": return .increase
            case "down", "reduced", "decreased", "halved": return .reduce
            case "stopped", "discontinued", "held": return .stop
            case "started", "continued": return .take
            default: continue
            }
        }
        return nil
    }
}

extension [SpokenMedicines.Medicine] {
    /// Number of medicines that begin before a place.
    fileprivate func partition(before place: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].range.lowerBound < place { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
