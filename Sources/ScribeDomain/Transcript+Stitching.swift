extension Transcript {
    /// The most words that are compared at a seam: half a second of overlap holds no more.
    static let seamWords = 4

    /// Joins chunk texts in order. Where the times of two chunks overlap, words at the seam that both have are kept
    /// once: the longest end of the first that is the beginning of the second, of at most ``seamWords`` words. Where
    /// they do not overlap both are kept, for people do repeat themselves (eka-v2.md 10.16).
    static func stitch(_ chunks: [(text: String, times: ChunkTimes?)]) -> String {
        var result = ""
        var previous: (words: [Substring], times: ChunkTimes?) = ([], nil)
        for chunk in chunks {
            let words = chunk.text.split(whereSeparator: \.isWhitespace)
            guard let end = words.last?.endIndex else { continue }
            let isOverlapping = previous.times.map { before in chunk.times.map(before.overlaps) ?? false } ?? false
            let fresh = words.dropFirst(isOverlapping ? sharedWords(endOf: previous.words, startOf: words) : 0)
            previous = (words, chunk.times)
            guard let start = fresh.first?.startIndex else { continue }
            if let last = result.last { result += ".?!।".contains(last) ? "\n" : " " }
            // Lines within a chunk are kept: a recogniser ends them where a speaker pauses.
            result += chunk.text[start..<end]
        }
        return result
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
