extension Transcript {
    /// The most words that are compared at a seam: half a second of overlap holds no more.
    static let seamWords = 4

    /// Joins chunk texts in order. Where the times of two chunks overlap, words at the seam that both have are kept
    /// once: the longest end of the first that is the beginning of the second, of at most ``seamWords`` words. Where
    /// they do not overlap both are kept, for people do repeat themselves (eka-v2.md 10.16).
    static func stitch(_ chunks: [(text: String, times: ChunkTimes?)]) -> String {
        var words: [Substring] = []
        var result = ""
        var previousTimes: ChunkTimes?
        for chunk in chunks {
            var next = chunk.text.split(whereSeparator: \.isWhitespace)
            guard !next.isEmpty else { continue }
            if let previousTimes, let times = chunk.times, previousTimes.overlaps(times) {
                next.removeFirst(sharedWords(endOf: words, startOf: next))
            }
            previousTimes = chunk.times
            guard !next.isEmpty else { continue }
            if let last = result.last { result += ".?!।".contains(last) ? "\n" : " " }
            result += next.joined(separator: " ")
            words = next
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
