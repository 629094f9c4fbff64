import Basics
import Foundation

/// Horizontal scale of a timeline's bars, in thousandths of their width.
///
/// The wait of a client, from the commit to the results, has more room than the recording before and than deliveries
/// after it. A stretch in which nothing happens takes at most as much room as all that happens.
struct TimelineScale: Hashable, Sendable {
    private static let width = 1000.0
    /// Shares of the parts between the marks, by the number of marks.
    private static let shares = [[1], [0.4, 0.6], [0.35, 0.5, 0.15]]
    /// Longest stretch without an event that is never shortened, in seconds.
    private static let pause = 1.0
    private static let leastBar = 5.0

    /// A stretch of time, and the room that it has.
    private struct Piece: Hashable {
        let begin: TimeInterval
        let end: TimeInterval
        let from: Double
        let to: Double
    }

    private let pieces: [Piece]
    /// Places of the marks.
    let marks: [Double]
    /// Seconds of each part between the marks.
    let lengths: [TimeInterval]

    /// - Parameters:
    ///   - spans: Begin and end of each bar, in seconds.
    ///   - marks: Times of the commit and of the results, in seconds, as far as there are any.
    init(_ spans: [ClosedRange<TimeInterval>], marks times: [TimeInterval]) {
        let end = spans.map(\.upperBound).max() ?? 0
        var splits: [TimeInterval] = []
        for time in times.prefix(2) where time > splits.last ?? 0 && time < end { splits.append(time) }
        let shares = Self.shares[splits.count]
        var (all, places, lengths): ([Piece], [Double], [TimeInterval]) = ([], [0], [])
        for (number, range) in zip([0] + splits, splits + [end]).enumerated() {
            let place = (places.last ?? 0) + Self.width * shares[number]
            all += Self.pieces(spans, in: range.0...range.1, from: places.last ?? 0, to: place)
            places.append(place)
            lengths.append(range.1 - range.0)
        }
        pieces = all
        self.lengths = lengths
        marks = Array(places.dropFirst().dropLast())
    }

    private static func pieces(
        _ spans: [ClosedRange<TimeInterval>], in range: ClosedRange<TimeInterval>, from: Double, to: Double
    ) -> [Piece] {
        // Times at which something is going on, without overlaps.
        var active: [(begin: TimeInterval, end: TimeInterval)] = [(range.lowerBound, range.lowerBound)]
        for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) where span.overlaps(range) {
            let (begin, end) = (max(span.lowerBound, range.lowerBound), min(span.upperBound, range.upperBound))
            if let last = active.last, begin <= last.end {
                active[active.count - 1].end = max(last.end, end)
            } else {
                active.append((begin, end))
            }
        }
        if let last = active.last, last.end < range.upperBound { active.append((range.upperBound, range.upperBound)) }
        let longest = max(pause, active.total { $0.end - $0.begin })
        var lengths: [(begin: TimeInterval, end: TimeInterval, room: Double)] = []
        for (number, one) in active.enumerated() {
            if number > 0 {
                let before = active[number - 1].end
                lengths.append((before, one.begin, min(one.begin - before, longest)))
            }
            lengths.append((one.begin, one.end, one.end - one.begin))
        }
        let sum = lengths.total(\.room)
        guard sum > 0 else { return [Piece(begin: range.lowerBound, end: range.upperBound, from: from, to: from)] }
        var place = from
        return lengths.map { begin, end, room in
            let next = place + room / sum * (to - from)
            defer { place = next }
            return Piece(begin: begin, end: end, from: place, to: next)
        }
    }

    /// Place of a time.
    func place(of time: TimeInterval) -> Double {
        guard let piece = pieces.first(where: { time <= $0.end }) ?? pieces.last else { return 0 }
        guard piece.end > piece.begin else { return piece.from }
        return piece.from + (min(max(time, piece.begin), piece.end) - piece.begin) / (piece.end - piece.begin)
            * (piece.to - piece.from)
    }

    /// A line's bar as SVG; the marks are drawn.
    func bar(of span: ClosedRange<TimeInterval>, style: String) -> ConsoleViews.Markup {
        let from = min(place(of: span.lowerBound), Self.width - Self.leastBar)
        let width = max(Self.leastBar, place(of: span.upperBound) - from)
        let lines = marks.map { "<path class=\"pv\" d=\"M\(Self.rounded($0)) 0v20\"/>" }.joined()
        return ConsoleViews.Markup(
            renderText: "<svg class=\"span\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                + "\(lines)<rect class=\"\(style.isEmpty ? "c" : style)\" x=\"\(Self.rounded(from))\" y=\"5\" "
                + "width=\"\(Self.rounded(width))\" height=\"10\"/></svg>")
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
