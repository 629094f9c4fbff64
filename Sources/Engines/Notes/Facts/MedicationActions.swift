/// Actions on medications in one clause: "stop", "go up to", "switch … to".
///
/// An action belongs to the medications that it stands before, up to the next action. A medication that is only a
/// reason, "it does not mix with the apixaban", has none.
struct MedicationActions {
    private static let phrases = PhraseBook(
        Lexicon.pairs("medicines/actions").compactMap { phrase, change in
            MedicationMention.Change(rawValue: change).map { (phrase, $0) }
        })
    private static let swapping = Lexicon.set("medicines/swapping")
    private static let reasons = Lexicon.set("medicines/objects")
    private static let pronouns = Lexicon.set("medicines/pronouns")

    private struct Action {
        let change: MedicationMention.Change
        let range: Range<Int>
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private let tokens: [Token]
    private let actions: [Action]
    /// Position of "to" or "for" after "switch"; nil without a switch.
    private let swap: (start: Int, turn: Int)?

    /// - Parameter names: Positions of the medications' names.
    init(_ tokens: [Token], names: [Int] = []) {
        self.tokens = tokens
        var actions: [Action] = []
        for position in tokens.indices where position >= actions.last?.range.upperBound ?? 0 {
            // "Forty milligrams for five days, then stop" is no action of today.
            if position > 0, tokens[position - 1].plain == "then", position + 1 == tokens.count { continue }
            if let entry = tokens.longest(of: Self.phrases, at: position) {
                actions.append(Action(change: entry.meaning, range: position..<position + entry.phrase.count))
            }
        }
        self.actions = actions
        swap = tokens.firstIndex { Self.swapping.contains($0.plain) }.flatMap { start in
            // "Change it to 20 mg" is no switch: a medication must follow.
            tokens[(start + 1)...].indices.first { turn in
                ["to", "for", "with", "onto"].contains(tokens[turn].plain) && names.contains { $0 > turn }
            }.map { (start, $0) }
        }
    }

    /// Action on the medication whose name begins at `position`.
    func change(ofNameAt position: Int) -> MedicationMention.Change? {
        if let swap, position > swap.start { return position < swap.turn ? .stopped : .started }
        let before = actions.last { $0.range.upperBound <= position }
        // "Ramipril, carry on with that": the action stands behind its object.
        let behind = actions.first { action in
            action.range.lowerBound > position && action.range.upperBound < tokens.count
                && tokens[action.range.upperBound...].prefix(2).contains { Self.pronouns.contains($0.plain) }
        }
        let near = actions.first { $0.range.lowerBound > position && $0.range.lowerBound - position <= 3 }
        return (before ?? behind ?? near ?? (Set(actions.map(\.change)).count == 1 ? actions.first : nil))?.change
    }

    /// Whether a name is only the reason for an action.
    func isReason(_ position: Int) -> Bool {
        let start = actions.last { $0.range.upperBound <= position }?.range.upperBound ?? 0
        return tokens[start..<position].contains { Self.reasons.contains($0.plain) }
    }

    /// Action on what was named before: "double that to 40 mg", "that stays", "go up to 40 mg". Nil for one with an
    /// object of its own.
    var changeOfEarlier: MedicationMention.Change? {
        actions.first { action in
            let around = tokens[..<action.range.lowerBound].suffix(1) + tokens[action.range.upperBound...].prefix(2)
            guard action.change != .started else { return false }
            if around.contains(where: { Self.pronouns.contains($0.plain) }) { return true }
            let dose = tokens[action.range.upperBound...].drop { ["to", "by", "down", "up"].contains($0.plain) }
            return dose.first.map { Numbers.isNumber($0.plain) || $0.plain.utf8.first.map(Self.isDigit) ?? false }
                ?? false && tokens.contains { MedicationMention.doseUnits.contains($0.plain) }
        }?.change
    }
}
