import Basics

/// Checks the statements of a note against the transcript: numbers, medicines, doses, sides and negations, which harm
/// where they are wrong, must have been said. It judges no other words.
struct TranscriptGrounding {
    /// Kind of content that was not said.
    enum Gap: String, Hashable, CaseIterable {
        case number, medicine, dose, side, negation
        /// The example of the section's description, given out as a statement.
        case example

        /// Words for a warning, in the plural.
        var name: String {
            switch self {
            case .number: "numbers"
            case .medicine: "medicines"
            case .dose: "doses"
            case .side: "sides"
            case .negation: "negations"
            case .example: "words of the template's example"
            }
        }
    }

    private let spoken: SpokenWords
    private let denials: SpokenDenials
    /// Words of the transcript with single spaces between them.
    private let text: String

    init(_ transcript: String) {
        let dialogue = Dialogue(transcript)
        spoken = SpokenWords(dialogue.clauses.flatMap(\.tokens))
        denials = SpokenDenials(dialogue)
        text = spoken.tokens.map(\.plain).joined(separator: " ")
    }

    /// Finds the kinds of content in a statement that the transcript does not have.
    /// - Parameter example: the example of the section's description, which the statement must not repeat.
    func gaps(in statement: String, example: String = "") -> Set<Gap> {
        let tokens = Token.tokens(of: Self.withoutNumber(statement))
        let said = SpokenWords(tokens)
        var gaps = Set<Gap>()
        for amount in said.amounts where !isSaid(amount, in: said) {
            gaps.insert(amount.unit == nil ? .number : .dose)
        }
        if said.medicines.contains(where: { spoken.places(of: $0.words).isEmpty }) { gaps.insert(.medicine) }
        if said.sides.contains(where: { !isSaid($0) }) { gaps.insert(.side) }
        if denials.contradict(tokens) { gaps.insert(.negation) }
        let plain = Self.plain(tokens)
        if !example.isEmpty, plain == Self.plain(Token.tokens(of: example[...])), !text.contains(plain) {
            gaps.insert(.example)
        }
        return gaps
    }

    /// Whether the transcript has each longer word of a name.
    func hasWords(of name: String) -> Bool {
        Token.tokens(of: name[...]).allSatisfy { $0.plain.count < 4 || !spoken.places(of: [$0.plain]).isEmpty }
    }

    private static func plain(_ tokens: [Token]) -> String { tokens.map(\.plain).joined(separator: " ") }

    /// Farthest distance, in words, between a medicine and its dose.
    private static let doseDistance = 60
    /// Farthest distance, in words, between a side and the part of the body.
    private static let sideDistance = 8

    /// Whether the transcript has a number with that unit or without one, and near the medicine that it belongs to.
    private func isSaid(_ amount: SpokenWords.Amount, in statement: SpokenWords) -> Bool {
        // "a tablet" and "one of them" need no number in the transcript.
        if amount.value == "1", amount.unit == nil { return true }
        let places = spoken.amounts(of: amount.value)
            .filter { amount.unit == nil || $0.unit == nil || $0.unit == amount.unit }.map(\.place)
        guard amount.unit != nil, let medicine = statement.medicine(of: amount) else { return !places.isEmpty }
        let medicines = spoken.places(of: medicine.words)
        // A medicine that was not named is a gap of its own.
        guard !medicines.isEmpty else { return !places.isEmpty }
        return places.contains { medicines.hasElement(within: Self.doseDistance, of: $0) }
    }

    private func isSaid(_ side: SpokenWords.Side) -> Bool {
        let places = spoken.sides.lazy.filter { $0.name == side.name }.map(\.place)
        guard let part = side.part else { return !places.isEmpty }
        return places.contains { spoken.bodyParts(near: $0, Self.sideDistance).contains(part) }
    }

    /// The statement without a bullet or a number of a list before it.
    private static func withoutNumber(_ statement: String) -> Substring {
        var rest = statement[...].drop { $0.isWhitespace || ["-", "*", "•"].contains($0) }
        let number = rest.prefix { $0.isASCII && $0.isNumber }
        if !number.isEmpty {
            let after = rest[number.endIndex...]
            if after.hasPrefix(". ") || after.hasPrefix(") ") { rest = after.dropFirst(2) }
        }
        return rest
    }
}

extension [Int] {
    /// Whether a sorted list has an element at most this far from a value.
    fileprivate func hasElement(within distance: Int, of value: Int) -> Bool {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < value - distance { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] <= value + distance
    }
}
