import Basics

/// Words of a dictation after its commands: spoken punctuation, spelled names and corrections.
struct DictatedWords {
    /// A word, or the command to drop the item before it.
    private static let commands = PhraseBook(
        Lexicon.pairs("dictation/commands").map { ($0.phrase, ["end": Token.Pause.end, "comma": .comma][$0.meaning]) })
    private static let dropping = Lexicon.phrases("dictation/dropping")
    private static let correcting = Lexicon.phrases("dictation/correcting")
    private static let spelling: Set = ["spelled", "spelt", "spelling"]
    private static let ofPeriods = Lexicon.set("dictation/of-periods")
    private static let noCorrections = Lexicon.set("dictation/no-corrections")
    private static let ofCorrections = Lexicon.set("dictation/of-corrections")

    private static let colons = Lexicon.set("dictation/colons")
    private static let ofColons = Lexicon.set("dictation/of-colons")
    private static let painful = Lexicon.set("dictation/painful")

    /// Word that stands for the command to drop the item before it.
    static let drop = "\u{0}"

    let tokens: [Token]

    init(_ transcript: String) {
        var all: [Token] = []
        for line in transcript.lines {
            let (label, text) = SpeakerLabels.split(line)
            // A typed heading is no speaker.
            let isSpeaker = label.map { SpeakerLabels.named($0) != nil && !DictationHeading.isHeading($0) } ?? false
            // "IM" is no "I'm" here.
            all += Token.tokens(of: isSpeaker ? text : line).map {
                $0.plain == "i'm" && transcript[$0.source].utf8.count == 2 ? $0.replaced(by: "im") : $0
            }
            if let last = all.indices.last { all[last].pause = max(all[last].pause, .end) }
        }
        tokens = Self.corrected(Self.commanded(all))
    }

    // MARK: Commands

    private static func commanded(_ all: [Token]) -> [Token] {
        var tokens: [Token] = []
        var position = 0
        while position < all.count {
            if let end = all.end(of: dropping, at: position) {
                tokens.append(all[position].replaced(by: drop))
                position = end
            } else if all.matches(["question", "mark"], at: position) {
                // A doubt stays one: "question mark pulmonary embolism".
                let isDoubt =
                    position + 2 < all.count
                    && (tokens.last.map { $0.pause > .none } ?? true || isHeadingBefore(tokens))
                if isDoubt {
                    tokens.append(all[position].replaced(by: "query"))
                } else if let last = tokens.indices.last {
                    tokens[last].pause = .question
                }
                position += 2
            } else if let entry = all.longest(of: commands, at: position), isCommand(all, position, entry.phrase) {
                if let pause = entry.meaning, let last = tokens.indices.last {
                    tokens[last].pause = max(tokens[last].pause, pause)
                }
                position += entry.phrase.count
            } else if spelling.contains(all[position].plain), letters(all, after: position) > 1 {
                position += 1 + letters(all, after: position)
            } else {
                tokens.append(all[position])
                position += 1
            }
        }
        return tokens
    }

    private static func isCommand(_ all: [Token], _ position: Int, _ phrase: [String]) -> Bool {
        guard phrase == ["period"] else {
            // "Carcinoma of the colon".
            guard phrase == ["colon"], position > 0 else { return true }
            let next = position + 1 < all.count ? all[position + 1].plain : ""
            return !colons.contains(all[position - 1].plain) && !ofColons.contains(next)
        }
        let before = position > 0 ? all[position - 1].plain : ""
        let after = position + 1 < all.count ? all[position + 1].plain : ""
        if ["pain", "pains"].contains(after), painful.contains(before) { return false }
        return !ofPeriods.contains(before) && !["of", "was", "is", "started", "due", "cramps"].contains(after)
    }

    private static func letters(_ all: [Token], after position: Int) -> Int {
        all[(position + 1)...].prefix { $0.plain.utf8.count == 1 && $0.plain.utf8.allSatisfy(\.isLetter) }.count
    }

    // MARK: Corrections

    /// Most words in front of a correction that it may replace.
    private static let reach = 8

    private static func corrected(_ all: [Token]) -> [Token] {
        var tokens: [Token] = []
        var position = 0
        while position < all.count {
            guard position > 0, let end = all.end(of: correcting, at: position), end < all.count,
                end - position > 1
                    || !noCorrections.contains(all[position - 1].plain) && !ofCorrections.contains(all[end].plain)
            else {
                tokens.append(all[position])
                position += 1
                continue
            }
            let rest = Array(all[end...].prefix(reach))
            tokens.removeLast(tokens.count - start(ofWrong: tokens, before: rest))
            position = end
        }
        return tokens
    }

    /// Index of the first word that a correction replaces.
    private static func start(ofWrong tokens: [Token], before rest: [Token]) -> Int {
        let begin = max(0, tokens.count - reach)
        let said = Array(tokens[begin...])
        // "Twice daily, no sorry, three times daily".
        if rest.end(of: MedicationMention.schedules, at: 0) != nil
            || rest.first.map({ times.contains($0.plain) }) == true,
            let same = said.indices.last(where: { said.end(of: MedicationMention.schedules, at: $0) != nil })
        {
            var start = same
            while start > 0, said.end(of: MedicationMention.schedules, at: start - 1) != nil { start -= 1 }
            return begin + start
        }
        // "Aspirin 75 mg, correction, clopidogrel 75 mg".
        if isDrug(rest, 0), let drug = said.indices.last(where: { isDrug(said, $0) }) { return begin + drug }
        // "50 milligrams, no sorry, 100 milligrams".
        let hasUnit = rest.count > 1 && MedicationMention.doseUnits.contains(rest[1].plain)
        if let first = rest.first, isValue(first.plain),
            let value = said.indices.last(where: { index in
                isValue(said[index].plain)
                    && (!hasUnit
                        || index + 1 < said.count && MedicationMention.doseUnits.contains(said[index + 1].plain))
            })
        {
            var start = value
            while start > 0, isValue(said[start - 1].plain) { start -= 1 }
            return begin + start
        }
        if let same = start(ofRepeated: rest[...], in: said) { return begin + same }
        // "Sore throat. Sorry. Cough."
        if let last = tokens.last, last.pause >= .end { return tokens.count }
        return max(begin, tokens.count - 1)
    }

    private static let times = Lexicon.set("dictation/times")

    private static func isDrug(_ tokens: [Token], _ position: Int) -> Bool {
        guard position < tokens.count else { return false }
        let term = Terms(Array(tokens[position...].prefix(3))).all.first
        return term.map { $0.range.lowerBound == 0 && !$0.kinds.isDisjoint(with: .drug) } ?? false
    }

    /// Index of the word from which on a text says again what comes: "left knee, correction, right knee".
    static func start(ofRepeated rest: ArraySlice<Token>, in tokens: [Token]) -> Int? {
        for (offset, word) in rest.prefix(3).enumerated() where !isValue(word.plain) && word.plain.count > 2 {
            let recent = max(0, tokens.count - 2 * reach)
            if let same = tokens[recent...].lastIndex(where: { $0.plain == word.plain }), same - offset >= 0 {
                return same - offset
            }
        }
        return nil
    }

    private static func isHeadingBefore(_ tokens: [Token]) -> Bool {
        (1...3).contains { count in
            count <= tokens.count
                && DictationHeading.isHeading(tokens.suffix(count).map(\.plain).joined(separator: " "))
        }
    }

    private static func isValue(_ word: String) -> Bool {
        Numbers.isNumber(word) || word.first?.isNumber ?? false
    }
}
