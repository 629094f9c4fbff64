import Basics

/// Checks the statements of a note against the transcript: numbers, medicines, doses, sides and denials, which harm
/// where they are wrong, must have been said. It judges no other words.
struct TranscriptGrounding {
    /// Kind of content that was not said.
    enum Gap: String, Hashable, CaseIterable {
        case number, medicine, dose, change, side, negation
        /// The example of the section's description, given out as a statement.
        case example

        /// Words for a warning, in the plural.
        var name: String {
            switch self {
            case .number: "numbers"
            case .medicine: "medicines"
            case .dose: "doses"
            case .change: "changes of medicines"
            case .side: "sides"
            case .negation: "denials"
            case .example: "words of the template's example"
            }
        }
    }

    private let words: Set<String>
    private let values: Set<String>
    private let bareValues: Set<String>
    private let doses: Set<String>
    private let spans: Set<String>
    private let medicines: SpokenMedicines
    private let names: Set<[String]>
    private let sides: SpokenSides
    private let denials: SpokenDenials
    /// Words of the transcript with single spaces around and between them.
    private let text: String

    init(_ transcript: String) {
        let dialogue = Dialogue(transcript)
        let tokens = dialogue.clauses.flatMap(\.tokens)
        let amounts = SpokenAmounts(tokens).all
        words = Set(tokens.map(\.plain))
        values = Set(amounts.map(\.value))
        bareValues = Set(amounts.filter(\.isBare).map(\.value))
        doses = Set(amounts.compactMap(\.dose))
        spans = Set(amounts.compactMap(\.span))
        medicines = SpokenMedicines(tokens, amounts, SpokenFrequency.all(in: tokens))
        names = Set(medicines.all.map(\.words))
        sides = SpokenSides(dialogue.clauses.map(\.tokens))
        denials = SpokenDenials(dialogue)
        text = " \(Self.plain(tokens)) "
    }

    /// Finds the kinds of content in a statement that the transcript does not have.
    /// - Parameter example: the example of the section's description, which the statement must not repeat.
    func gaps(in statement: String, example: String = "") -> Set<Gap> {
        let tokens = HindiSpeech.inEnglish(Token.tokens(of: Self.withoutNumber(statement)))
        let frequencies = SpokenFrequency.all(in: tokens)
        let amounts = SpokenAmounts(tokens).all
        let stated = SpokenMedicines(tokens, amounts, frequencies)
        var gaps = Set<Gap>()
        for amount in amounts where !isSaid(amount, of: stated.medicine(of: amount, in: tokens) ?? stated.all.first) {
            // How often a medicine is taken is judged as a whole.
            if frequencies.contains(where: { $0.range.overlaps(amount.range) }) { continue }
            gaps.insert(amount.dose == nil ? .number : .dose)
        }
        for medicine in stated.all where !medicine.isEveryday && !isNamed(medicine) { gaps.insert(.medicine) }
        for (medicine, details) in stated.details {
            guard let said = medicines.details[medicine] else { continue }
            if !said.frequencies.isEmpty, !details.frequencies.isSubset(of: said.frequencies) { gaps.insert(.dose) }
            let others = details.actions.subtracting(said.actions)
            if !said.actions.isEmpty, !others.isEmpty { gaps.insert(.change) }
        }
        if !SpokenSides([tokens]).all.allSatisfy(sides.has) { gaps.insert(.side) }
        if denials.contradict(tokens) { gaps.insert(.negation) }
        let plain = Self.plain(tokens)
        if !example.isEmpty, plain == Self.plain(Token.tokens(of: example[...])), !text.contains(" \(plain) ") {
            gaps.insert(.example)
        }
        return gaps
    }

    /// Words of a medicine's form, which a note may add.
    private static let forms: Set = ["tablet", "tablets", "capsule", "capsules", "syrup", "cream", "spray", "oral"]

    /// Whether the transcript has each longer word of a name.
    func hasWords(of name: String) -> Bool {
        Token.tokens(of: name[...]).allSatisfy {
            $0.plain.count < 4 || words.contains($0.plain) || Self.forms.contains($0.plain)
        }
    }

    private func isNamed(_ medicine: SpokenMedicines.Medicine) -> Bool {
        names.contains(medicine.words) || medicine.words.count == 1 && words.contains(medicine.words[0])
    }

    private static func plain(_ tokens: [Token]) -> String { tokens.map(\.plain).joined(separator: " ") }

    private func isSaid(_ amount: SpokenAmounts.Amount, of medicine: SpokenMedicines.Medicine?) -> Bool {
        if let span = amount.span { return spans.contains(span) || bareValues.contains(amount.value) }
        guard let dose = amount.dose else {
            // "one of them" needs no number in the transcript.
            return amount.value == "1" || values.contains(amount.value)
        }
        guard let medicine, names.contains(medicine.words) else {
            return doses.contains(dose) || bareValues.contains(amount.value)
        }
        let said = medicines.details[medicine.words]?.doses ?? []
        return said.contains(dose) || said.contains(amount.value) || medicines.looseDoses.contains(dose)
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
