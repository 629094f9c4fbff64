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
    private static let moving = Lexicon.set("medicines/moving")
    private static let pronouns = Lexicon.set("medicines/pronouns")
    private static let habitual = Lexicon.set("medicines/habitual")
    private static let recalling = Lexicon.set("medicines/recalling")

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
                // "We use antibiotics to prevent infections."
                if entry.phrase == ["use"], position > 0, Self.habitual.contains(tokens[position - 1].plain) {
                    continue
                }
                let range = position..<position + entry.phrase.count
                // "Please don't stop it": a denied stop is no change, and any other denied action none.
                let isDenied = tokens[..<position].suffix(4).contains { Self.denials.contains($0.plain) }
                guard !isDenied || entry.meaning == .stopped else { continue }
                let change = isDenied ? .continued : Self.isOfDose(tokens, behind: range) ? .decreased : entry.meaning
                actions.append(Action(change: change, range: range))
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

    private static let denials: Set = ["don't", "never", "not", "won't", "shouldn't", "wouldn't", "without"]

    /// Whether an action stops one dose of several: "stop the night dose of glimepiride".
    private static func isOfDose(_ tokens: [Token], behind action: Range<Int>) -> Bool {
        let rest = tokens[action.upperBound...].prefix(4)
        return tokens[action].contains { $0.plain.hasPrefix("stop") }
            && rest.contains { ["dose", "doses"].contains($0.plain) }
    }

    /// Action on the medication whose name begins at `position`.
    func change(ofNameAt position: Int) -> MedicationMention.Change? {
        if let swap, position > swap.start { return position < swap.turn ? .stopped : .started }
        let before = actions.last { $0.range.upperBound <= position }
        // "I'll give you doxycycline, last time they gave you amoxicillin."
        if let before, before.change == .started,
            tokens[before.range.upperBound..<position].contains(where: { Self.recalling.contains($0.plain) })
        {
            return nil
        }
        // "It is high because of stopping the tablets, so amlodipine restart."
        if let before, position - before.range.upperBound > 2,
            let next = actions.first(where: { $0.range.lowerBound == position + 1 }),
            next.range.upperBound == tokens.count || Numbers.isNumber(tokens[next.range.upperBound].plain)
        {
            return next.change
        }
        // "Bring the metformin down to 500 mg."
        if before == nil || before?.change == .started,
            tokens[..<position].suffix(3).contains(where: { Self.moving.contains($0.plain) }),
            let turn = tokens[(position + 1)...].prefix(4).firstIndex(where: { ["up", "down"].contains($0.plain) }),
            tokens.matches(["to"], at: turn + 1) || tokens.matches(["by"], at: turn + 1)
        {
            return tokens[turn].plain == "up" ? .increased : .decreased
        }
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
            let (start, end) = (action.range.lowerBound, action.range.upperBound)
            // "If you get on with it, you can double it."
            if tokens[..<start].contains(where: { ["if", "unless", "when", "once"].contains($0.plain) }) {
                return false
            }
            if action.change == .started { return isPronoun(end) }
            // "That one has to stop."
            if end == tokens.count, (2..<7).contains(start), ["to", "must", "can"].contains(tokens[start - 1].plain),
                isPronoun(0) || isPronoun(1)
            {
                return true
            }
            if isPronoun(start - 1) || isPronoun(end) || isPronoun(end + 1) { return true }
            let dose = tokens[end...].drop { ["to", "by", "down", "up"].contains($0.plain) }
            return dose.first.map { Numbers.isNumber($0.plain) || $0.plain.utf8.first.map(Self.isDigit) ?? false }
                ?? false && tokens.contains { MedicationMention.doseUnits.contains($0.plain) }
        }?.change
    }

    /// Whether another medication takes the place of what was named before: "swap it for candesartan", "change that".
    var replacesEarlier: Bool {
        tokens.indices.contains { Self.swapping.contains(tokens[$0].plain) && isPronoun($0 + 1) }
            && (swap != nil || !tokens.contains { $0.plain == "to" })
    }

    /// Whether the patient is to keep the weight off a leg, or to leave a medication off: "stay off it".
    var staysOff: Bool {
        tokens.indices.dropFirst().contains { tokens[$0].plain == "off" && isPronoun($0 + 1) }
    }

    private static let afterPronouns = Lexicon.set("medicines/after-pronouns")

    /// Whether a word stands for something named before: "keep that", and not "keep that leg up".
    private func isPronoun(_ position: Int) -> Bool {
        guard tokens.indices.contains(position), Self.pronouns.contains(tokens[position].plain) else { return false }
        guard position + 1 < tokens.count, tokens[position].pause == .none, tokens[position].plain != "it" else {
            return true
        }
        let next = tokens[position + 1].plain
        return Self.afterPronouns.contains(next) || Numbers.isNumber(next)
            || MedicationActions.phrases.entries(beginningWith: next) != nil
    }
}
