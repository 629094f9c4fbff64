/// What one chunk adds to a transcript.
struct SpokenChunk: Sendable {
    let text: String
    /// With their times from the start of the chunk; empty where the recogniser has none.
    let words: [TimedWord]
    let times: ChunkTimes?

    /// The words of the text as they stand in it.
    var tokens: [Substring] { text.split(whereSeparator: \.isWhitespace) }

    /// When each word of the text was spoken, in the session's time; nil unless the recogniser's words are the text's.
    func middles(of tokens: [Substring]) -> [Double]? {
        guard let times, !words.isEmpty, words.count == tokens.count else { return nil }
        return words.map { times.start + ($0.start + $0.end) / 2 }
    }

    /// Whether the word at that place is spoken by who spoke the one before it; nil where nobody knows.
    func hasSameSpeaker(at place: Int) -> Bool? {
        guard words.indices.contains(place), place > 0, let speaker = words[place].speaker,
            let before = words[place - 1].speaker
        else { return nil }
        return speaker == before
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

    /// Joins chunk texts in order. Words at a seam that two chunks both have are kept once (eka-v2.md 10.16); where
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
        guard let begin = second.times?.start, let end = first.times?.end,
            let firstMiddles = first.middles(of: firstTokens), let secondMiddles = second.middles(of: secondTokens)
        else { return Seam(droppedAtStart: sharedWords(endOf: firstTokens, startOf: secondTokens)) }
        // The words that both may have heard.
        let tail = firstMiddles.reversed().prefix { $0 >= begin }.count
        let head = secondMiddles.prefix { $0 <= end }.count
        let old = firstTokens.suffix(tail).map(spoken)
        let new = secondTokens.prefix(head).map(spoken)
        // The longest run of words that both have; what one has beyond it was cut off and is heard whole in the other.
        var best = (length: 0, old: 0, new: 0)
        for i in old.indices {
            for j in new.indices {
                var length = 0
                while i + length < old.count, j + length < new.count, old[i + length] == new[j + length] { length += 1 }
                if length > best.length { best = (length, i, j) }
            }
        }
        if best.length > 0 {
            let next = best.new + best.length
            return Seam(
                droppedAtEnd: old.count - best.old - best.length, droppedAtStart: next,
                isSameTurn: second.hasSameSpeaker(at: next)
            )
        }
        // Nothing in common: each keeps its half of the overlap.
        let middle = (begin + end) / 2
        return Seam(
            droppedAtEnd: firstMiddles.suffix(tail).filter { $0 > middle }.count,
            droppedAtStart: secondMiddles.prefix(head).filter { $0 <= middle }.count
        )
    }

    private static func sharedWords(endOf first: [Substring], startOf second: [Substring]) -> Int {
        for count in stride(from: min(seamWords, first.count, second.count), to: 0, by: -1) {
            let end = first.suffix(count).map(spoken)
            if end == second.prefix(count).map(spoken), end.contains(where: { !$0.isEmpty }) { return count }
        }
        return 0
    }

    /// A word as it sounds: case and punctuation do not.
    private static func spoken(_ word: Substring) -> String {
        word.lowercased().filter { $0.isLetter || $0.isNumber }
    }
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
