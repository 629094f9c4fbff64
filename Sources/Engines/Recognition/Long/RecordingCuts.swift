/// Cuts of a long recording into pieces of at most `longest` seconds. Each cut is at the last pause in the second half
/// of the piece, or at the limit if that half has no pause.
struct RecordingCuts: Hashable, Sendable {
    /// Start and end of each piece, in seconds.
    let pieces: [ClosedRange<Double>]

    /// Chooses the cuts.
    /// - Parameters:
    ///   - duration: length of the recording, in seconds.
    ///   - silences: pauses in seconds, in order.
    ///   - longest: longest piece, in seconds.
    init(duration: Double, silences: [ClosedRange<Double>], longest: Double) {
        var pieces: [ClosedRange<Double>] = []
        var start = 0.0
        var middles = silences.map { ($0.lowerBound + $0.upperBound) / 2 }[...]
        while duration - start > longest {
            // The last pause that leaves the piece at least half full; without one the cut is at the limit.
            var cut = start + longest
            while let middle = middles.first, middle <= start + longest {
                if middle >= start + longest / 2 { cut = middle }
                middles.removeFirst()
            }
            pieces.append(start...cut)
            start = cut
        }
        pieces.append(start...max(start, duration))
        self.pieces = pieces
    }

    /// Parses the pauses in a report of ffmpeg's `silencedetect`.
    static func silences(inReport report: String) -> [ClosedRange<Double>] {
        var silences: [ClosedRange<Double>] = []
        var start: Double?
        for line in report.split(whereSeparator: \.isNewline) {
            if let value = number(after: "silence_start: ", in: line) { start = max(0, value) }
            if let end = number(after: "silence_end: ", in: line), let begin = start, begin <= end {
                silences.append(begin...end)
                start = nil
            }
        }
        return silences
    }

    private static func number(after word: String, in line: Substring) -> Double? {
        guard let range = line.firstRange(of: word) else { return nil }
        return Double(line[range.upperBound...].prefix { $0.isNumber || $0 == "." || $0 == "-" })
    }
}
