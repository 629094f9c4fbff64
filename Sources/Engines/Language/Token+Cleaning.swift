/// Removes fillers, repetitions and corrected words, which no note should contain.
extension [Token] {
    private static let fillers = Lexicon.set("words/fillers")
    private static let fillingPhrases = Lexicon.phrases("words/filling-phrases")
    private static let addresses = Lexicon.set("words/addresses")
    private static let keptBefore: Set = ["not", "n't", "don't", "didn't"]

    /// Removes filler words. The first word of an answer stays.
    func withoutFillers() -> [Token] {
        var kept: [Token] = []
        kept.reserveCapacity(count)
        var position = startIndex
        while position < endIndex {
            let token = self[position].withoutStutter
            // "When you need it" is "when needed".
            if ["you", "i"].contains(token.plain), matches(["need", "it"], at: position + 1),
                let before = kept.last, ["when", "if", "as"].contains(before.plain)
            {
                var needed = token.replaced(by: "needed")
                needed.pause = self[position + 2].pause
                kept.append(needed)
                position += 3
                continue
            }
            if let end = end(of: Self.fillingPhrases, at: position),
                !(kept.last.map { Self.keptBefore.contains($0.plain) } ?? false)
            {
                Self.passOn(self[end - 1].pause, to: &kept)
                position = end
                continue
            }
            // "like" between pauses is a filler.
            let isFilling =
                token.plain == "like" && (token.pause == .comma || kept.last?.pause == .comma)
                || Self.addresses.contains(token.plain)
                    && (kept.last?.pause == .comma || kept.isEmpty && token.pause == .comma)
            // "Go to the ER."
            let isPlace =
                token.plain == "er" && (token.shown == "ER" || kept.suffix(2).map(\.plain) == ["to", "the"])
            if ["um", "uh", "er", "erm", "uhm"].contains(token.plain), !isPlace, let last = kept.indices.last {
                kept[last].hesitates = true
            }
            if isFilling || Self.fillers.contains(token.plain) && !isPlace
                || token.plain == "yeah" && token.pause == .comma && kept.last?.pause == .comma
            {
                Self.passOn(token.pause, to: &kept)
            } else {
                kept.append(token)
            }
            position += 1
        }
        return kept
    }

    static let speltPhrases = PhraseBook(Lexicon.pairs("words/spelt-phrases"))

    /// Joins spelt letters into one word: "h b a one c".
    func withoutSpelling() -> [Token] {
        var kept: [Token] = []
        kept.reserveCapacity(count)
        var position = startIndex
        while position < endIndex {
            if let entry = longest(of: Self.speltPhrases, at: position) {
                let last = self[position + entry.phrase.count - 1]
                var token = self[position].replaced(by: entry.meaning.lowercased())
                token.shown = entry.meaning
                token.pause = last.pause
                token.hesitates = last.hesitates
                kept.append(token)
                position += entry.phrase.count
            } else {
                kept.append(self[position])
                position += 1
            }
        }
        return kept
    }

    private static func passOn(_ pause: Token.Pause, to kept: inout [Token]) {
        if let last = kept.indices.last { kept[last].pause = Swift.max(kept[last].pause, pause) }
    }

    /// Longest run of words that a recogniser repeats where two pieces of a recording meet.
    private static let longestSeam = 8

    /// Removes repetitions: runs of words that are said twice in a row.
    func withoutRepeats() -> [Token] {
        var kept: [Token] = []
        kept.reserveCapacity(count)
        for token in self {
            kept.append(token)
            // The longest run is removed first, together with shorter runs in it.
            for length in stride(from: Swift.min(Self.longestSeam, kept.count / 2), to: 0, by: -1) {
                let second = kept.count - length
                let first = second - length
                guard kept[second].plain == kept[first].plain,
                    kept[kept.count - 1].plain == kept[second - 1].plain,
                    (0..<length).allSatisfy({ kept[first + $0].plain == kept[second + $0].plain })
                else { continue }
                // "very very bad" stays, and so do repeated numbers.
                if length == 1, Double(token.plain) != nil || Numbers.values[token.plain] != nil { break }
                let pause = kept[kept.count - 1].pause
                kept.removeLast(length)
                kept[kept.count - 1].pause = Swift.max(kept[kept.count - 1].pause, pause)
                break
            }
        }
        return kept
    }

    private static let takingBack = Lexicon.phrases("words/taking-back")

    /// Replaces a corrected word by its correction: "Ten, no, twenty milligrams" becomes twenty.
    func withoutCorrections() -> [Token] {
        var kept: [Token] = []
        kept.reserveCapacity(count)
        var position = startIndex
        while position < endIndex {
            if let last = kept.last, let end = end(of: Self.takingBack, at: position), end < endIndex {
                let isAlone = last.pause < .end && self[end - 1].pause < .question
                if isAlone, let kind = Kind(last.plain), kind == Kind(self[end].plain), self[end].plain != last.plain {
                    // A number of several words is removed as a whole.
                    while let last = kept.last, Kind(last.plain) == kind { kept.removeLast() }
                    position = end
                    continue
                }
                // "My left knee, sorry, my right knee": the words after the corrected one are said again.
                if isAlone, let start = Self.startOfCorrected(in: kept, by: Array(self[end...])) {
                    kept.removeSubrange(start...)
                    position = end
                    continue
                }
            }
            kept.append(self[position])
            position += 1
        }
        return kept
    }

    /// Beginning of the last words if `correction` says them again with another number or side; nil otherwise.
    private static func startOfCorrected(in kept: [Token], by correction: [Token]) -> Int? {
        let owning: Set = ["my", "the", "your", "his", "her"]
        let rest = Array(correction.drop { owning.contains($0.plain) })
        guard let kind = rest.first.flatMap({ Kind($0.plain) }), let first = rest.first,
            let index = kept.suffix(3).indices.last(where: { Kind(kept[$0].plain) == kind }),
            kept[index].plain != first.plain, index + 1 < kept.count,
            kept[(index + 1)...].elementsEqual(
                rest.dropFirst().prefix(kept.count - index - 1), by: { $0.plain == $1.plain })
        else { return nil }
        let isOwned = rest.count < correction.count && index > 0 && owning.contains(kept[index - 1].plain)
        return isOwned ? index - 1 : index
    }

    /// Kinds of words that speakers correct.
    private enum Kind {
        case number, weekday, month, side

        init?(_ word: String) {
            if Numbers.values[word] != nil || Double(word) != nil {
                self = .number
            } else if Numbers.weekdays.contains(word) {
                self = .weekday
            } else if Numbers.months.contains(word) {
                self = .month
            } else if word == "left" || word == "right" {
                self = .side
            } else {
                return nil
            }
        }
    }
}
