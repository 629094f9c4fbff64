import Basics

/// Weights of words. A text tells of an emergency if the sum of its weights is above zero.
///
/// The weights are learned from the labelled utterances of `Tests/Notes/urgency`. A line of `urgency.txt` is a weight,
/// in hundredths, and its feature. The feature `=` is part of each text.
package struct UrgencyModel: Sendable {
    /// Most words that are weighed together, unless one sentence is longer.
    private static let window = 60

    private let weights: [String: Int]
    private let bias: Int

    package init(_ text: String) {
        var weights: [String: Int] = [:]
        for line in text.lines where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let weight = Int(parts[0]) else { continue }
            weights[String(parts[1])] = weight
        }
        bias = weights.removeValue(forKey: "=") ?? 0
        self.weights = weights
    }

    /// Whether a stretch of sentences tells of an emergency.
    package func isEmergency(_ text: UrgencyFeatures) -> Bool {
        Self.windows(of: text.sentences).contains { weight(of: text.sentences[$0]) > 0 }
    }

    /// Weight of sentences, in which each feature counts once.
    private func weight(of sentences: ArraySlice<UrgencyFeatures.Sentence>) -> Int {
        Set(sentences.lazy.flatMap(\.features)).reduce(bias) { $0 + weights[$1, default: 0] }
    }

    /// Stretches of sentences that are weighed together. Each begins in the middle of the one before it.
    package static func windows(of sentences: [UrgencyFeatures.Sentence]) -> [Range<Int>] {
        var windows: [Range<Int>] = []
        var start = 0
        while start < sentences.count {
            var (end, words) = (start, 0)
            // Sentence from which on the next stretch begins.
            var middle = start + 1
            while end < sentences.count, end == start || words + sentences[end].length <= window {
                words += sentences[end].length
                end += 1
                if words <= window / 2 { middle = end }
            }
            windows.append(start..<end)
            if end == sentences.count { break }
            start = min(max(middle, start + 1), end)
        }
        return windows
    }
}
