import Basics

/// Text, words and times of one recognised chunk.
struct SpokenChunk: Sendable {
    let text: String
    /// Words with times from the start of the chunk; empty if the recogniser gives no times.
    let words: [TimedWord]
    let times: ChunkTimes?
    /// Duration of the file in seconds; nil if not measured.
    var duration: Double? = nil

    /// Words of the text, split at white space.
    var tokens: [Substring] { text.words }

    /// Timed word for each token of the text; nil if tokens and timed words differ.
    /// A token without sound, such as the dash before a turn, gets the timed word after it.
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

/// Cut between two consecutive chunks.
private struct Seam {
    /// Words to drop at the end of the first chunk.
    var droppedAtEnd = 0
    /// Words to drop at the start of the second chunk.
    var droppedAtStart = 0
    /// Whether the last speaker of the first chunk continues in the second; nil if unknown.
    var isSameTurn: Bool?
}

extension Transcript {
    /// Most words compared at a seam without word times: 0.5 s of overlap holds no more.
    static let seamWords = 4
    /// Most words compared at a seam with word times: about 15 s of speech.
    static let overlapWords = 48

    /// Joins chunk texts in order. Words that both chunks have at a seam are kept once (eka.md 3.1).
    /// If the chunks' times do not overlap both copies stay, because people repeat themselves. Both stay also where the
    /// times overlap by more than recorders repeat: such times are wrong.
    static func stitch(_ chunks: [SpokenChunk]) -> String {
        var result = ""
        var previous: (chunk: SpokenChunk, tokens: [Substring])?
        for chunk in chunks {
            var tokens = chunk.tokens[...]
            var isSameTurn: Bool?
            guard let end = tokens.last?.endIndex else { continue }
            if let before = previous, let times = before.chunk.times,
                chunk.times.map({ times.seam(before: $0) }) == .repeating
            {
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
            // Line breaks within a chunk stay: a recogniser ends lines at pauses and speaker changes.
            if let last = result.last { result += isSameTurn ?? !".?!।".contains(last) ? " " : "\n" }
            result += chunk.text[start..<end]
        }
        return result
    }

    private static func seam(
        _ first: SpokenChunk, _ firstTokens: [Substring], _ second: SpokenChunk, _ secondTokens: [Substring]
    ) -> Seam {
        guard let firstTimes = first.times, let secondTimes = second.times, firstTimes.fits(first.duration),
            secondTimes.fits(second.duration), let firstWords = first.timed(firstTokens),
            let secondWords = second.timed(secondTokens)
        else { return Seam(droppedAtStart: sharedWords(endOf: firstTokens, startOf: secondTokens)) }
        let (begin, end) = (secondTimes.start, firstTimes.end)
        let firstMiddles = firstWords.map { firstTimes.start + $0.middle }
        let secondMiddles = secondWords.map { secondTimes.start + $0.middle }
        // Words within the overlap, which both chunks may contain.
        let tail = firstMiddles.reversed().prefix { $0 >= begin }.count
        let head = secondMiddles.prefix { $0 <= end }.count
        // Clients set the times, so the number of compared words is limited however long the overlap is.
        let old = firstTokens.suffix(min(tail, overlapWords)).map(spoken)
        let new = secondTokens.prefix(min(head, overlapWords)).map(spoken)
        // Finds the longest run of words in both chunks. Words beyond the run were cut off in
        // one chunk and are whole in the other.
        // Among runs of equal length the one with the closest times wins.
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
        // Without a common word each chunk keeps its half of the overlap, where both have heard words in it.
        guard tail > 0, head > 0 else { return Seam() }
        let middle = (begin + end) / 2
        return Seam(
            droppedAtEnd: firstMiddles.suffix(tail).filter { $0 > middle }.count,
            droppedAtStart: secondMiddles.prefix(head).filter { $0 <= middle }.count
        )
    }

    /// Whether the same speaker said the word at `place` and the word before; nil if unknown.
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

    /// Word in lower case without punctuation, for comparison by sound.
    fileprivate static func spoken(_ word: Substring) -> String {
        word.lowercased().filter { $0.isLetter || $0.isNumber }
    }
}

extension TimedWord {
    fileprivate var middle: Double { (start + end) / 2 }
}

extension String {
    /// Text without its last `count` words and the space before them.
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
