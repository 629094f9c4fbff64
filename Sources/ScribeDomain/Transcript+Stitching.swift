/// What one chunk adds to a transcript.
struct SpokenChunk: Sendable {
    let text: String
    /// With their times from the start of the chunk; empty where the recogniser has none.
    let words: [TimedWord]
    let times: ChunkTimes?

    /// The words of the text as they stand in it.
    var tokens: [Substring] { text.words }

    /// The recogniser's word for each word of the text; nil unless they are the same ones. What does not sound, such
    /// as the dash before a turn, goes with the word after it.
    func timed(_ tokens: [Substring]) -> [TimedWord]? {
        var sounding = words.filter { !Transcript.spoken($0.text[...]).isEmpty }[...]
        guard let last = sounding.last else { return nil }
        var timed: [TimedWord] = []
        for token in tokens {
            timed.append(sounding.first ?? last)
            guard !Transcript.spoken(token).isEmpty else { continue }
            guard sounding.popFirst() != nil else { return nil }
        }
        return sounding.isEmpty ? timed : nil
    }
}

/// What is done where one chunk follows another.
private struct Seam {
    /// How many words go at the end of the first chunk.
    var droppedAtEnd = 0
    /// How many words go at the start of the second.
    var droppedAtStart = 0
    /// Whether who spoke last in the first goes on in the second; nil where nobody knows.
    var isSameTurn: Bool?
}

extension Transcript {
    /// The most words that are compared at a seam: half a second of overlap holds no more.
    static let seamWords = 4
    /// The same where the recogniser has times: a quarter of a minute of speech.
    static let overlapWords = 48

    /// Joins chunk texts in order. Words at a seam that two chunks both have are kept once (eka.md 10.16); where
    /// the times of two chunks do not overlap both are kept, for people do repeat themselves.
    static func stitch(_ chunks: [SpokenChunk]) -> String {
        var result = ""
        var previous: (chunk: SpokenChunk, tokens: [Substring])?
        for chunk in chunks {
            var tokens = chunk.tokens[...]
            var isSameTurn: Bool?
            guard let end = tokens.last?.endIndex else { continue }
            if let before = previous, let times = before.chunk.times, chunk.times.map(times.overlaps) ?? false {
                let seam = seam(before.chunk, before.tokens, chunk, Array(tokens))
                if seam.droppedAtEnd > 0 {
                    result =
                        before.tokens.count > seam.droppedAtEnd
                        ? String(result.dropLastWords(seam.droppedAtEnd)) : result
                }
                tokens = tokens.dropFirst(seam.droppedAtStart)
                isSameTurn = seam.isSameTurn
            }
            previous = (chunk, chunk.tokens)
            guard let start = tokens.first?.startIndex else { continue }
            // Lines within a chunk are kept: a recogniser ends them where a speaker pauses, or another one begins.
            if let last = result.last { result += isSameTurn ?? !".?!।".contains(last) ? " " : "\n" }
            result += chunk.text[start..<end]
        }
        return result
    }

    private static func seam(
        _ first: SpokenChunk, _ firstTokens: [Substring], _ second: SpokenChunk, _ secondTokens: [Substring]
    ) -> Seam {
        guard let firstTimes = first.times, let secondTimes = second.times,
            let firstWords = first.timed(firstTokens), let secondWords = second.timed(secondTokens)
        else { return Seam(droppedAtStart: sharedWords(endOf: firstTokens, startOf: secondTokens)) }
        let (begin, end) = (secondTimes.start, firstTimes.end)
        let firstMiddles = firstWords.map { firstTimes.start + $0.middle }
        let secondMiddles = secondWords.map { secondTimes.start + $0.middle }
        // The words that both may have heard.
        let tail = firstMiddles.reversed().prefix { $0 >= begin }.count
        let head = secondMiddles.prefix { $0 <= end }.count
        // Times are the client's to say: what is compared must not grow with how far they make chunks overlap.
        let old = firstTokens.suffix(min(tail, overlapWords)).map(spoken)
        let new = secondTokens.prefix(min(head, overlapWords)).map(spoken)
        // The longest run of words that both have; what one has beyond it was cut off and is heard whole in the other.
        // Of runs as long as each other, the one that was heard at the same time.
        var best = (length: 0, distance: Double.infinity, old: 0, new: 0)
        for i in old.indices {
            for j in new.indices {
                var length = 0
                while i + length < old.count, j + length < new.count, old[i + length] == new[j + length] { length += 1 }
                let distance = abs(firstMiddles[firstMiddles.count - old.count + i] - secondMiddles[j])
                if length > 0, (length, -distance) > (best.length, -best.distance) { best = (length, distance, i, j) }
            }
        }
        if best.length > 0 {
            let next = best.new + best.length
            return Seam(
                droppedAtEnd: old.count - best.old - best.length, droppedAtStart: next,
                isSameTurn: Self.isSameTurn(secondWords, at: next)
            )
        }
        // Nothing in common: each keeps its half of the overlap.
        let middle = (begin + end) / 2
        return Seam(
            droppedAtEnd: firstMiddles.suffix(tail).filter { $0 > middle }.count,
            droppedAtStart: secondMiddles.prefix(head).filter { $0 <= middle }.count
        )
    }

    /// Whether the word at that place is spoken by who spoke the one before it; nil where nobody knows.
    private static func isSameTurn(_ words: [TimedWord], at place: Int) -> Bool? {
        guard words.indices.contains(place), place > 0, let speaker = words[place].speaker,
            let before = words[place - 1].speaker
        else { return nil }
        return speaker == before
    }

    private static func sharedWords(endOf first: [Substring], startOf second: [Substring]) -> Int {
        for count in stride(from: min(seamWords, first.count, second.count), to: 0, by: -1) {
            let end = first.suffix(count).map(spoken)
            if end == second.prefix(count).map(spoken), end.contains(where: { !$0.isEmpty }) { return count }
        }
        return 0
    }

    /// A word as it sounds: case and punctuation do not.
    fileprivate static func spoken(_ word: Substring) -> String {
        word.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

extension TimedWord {
    fileprivate var middle: Double { (start + end) / 2 }
}

extension String {
    /// Without its last words and the space before them.
    fileprivate func dropLastWords(_ count: Int) -> Substring {
        var rest = self[...]
        for _ in 0..<count {
            rest = rest.trimmedAtEnd
            while let last = rest.last, !last.isWhitespace { rest.removeLast() }
        }
        return rest.trimmedAtEnd
    }
}

extension Substring {
    fileprivate var trimmedAtEnd: Substring {
        var rest = self
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
