import Basics
import Foundation

/// Horizontal scale of a timeline's bars, in thousandths of their width.
///
/// What a client waits for, from the commit on, has more room than the recording before it. A stretch in which nothing
/// happens takes at most as much room as all that happens.
struct TimelineScale: Hashable, Sendable {
    private static let width = 1000.0
    /// Share of the recording before the commit.
    private static let shareBefore = 0.4
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
    /// Place of the commit; nil without one.
    let pivot: Double?
    /// Seconds until the commit, or else in all; and seconds after it.
    let lengths: (before: TimeInterval, after: TimeInterval?)

    /// - Parameters:
    ///   - spans: Begin and end of each bar, in seconds.
    ///   - pivot: Time of the commit, in seconds; nil without one.
    init(_ spans: [ClosedRange<TimeInterval>], pivot: TimeInterval?) {
        let end = spans.map(\.upperBound).max() ?? 0
        let split = pivot.flatMap { $0 > 0 && $0 < end ? $0 : nil }
        self.pivot = split.map { _ in Self.width * Self.shareBefore }
        lengths = (split ?? end, split.map { end - $0 })
        guard let split else {
            pieces = Self.pieces(spans, in: 0...end, from: 0, to: Self.width)
            return
        }
        let place = Self.width * Self.shareBefore
        pieces =
            Self.pieces(spans, in: 0...split, from: 0, to: place)
            + Self.pieces(spans, in: split...end, from: place, to: Self.width)
    }

    static func == (one: Self, other: Self) -> Bool { one.pieces == other.pieces && one.pivot == other.pivot }
    func hash(into hasher: inout Hasher) { hasher.combine(pieces) }

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

    /// A line's bar as SVG; the commit's place is marked.
    func bar(of span: ClosedRange<TimeInterval>, style: String) -> ConsoleViews.Markup {
        let from = min(place(of: span.lowerBound), Self.width - Self.leastBar)
        let width = max(Self.leastBar, place(of: span.upperBound) - from)
        let mark = pivot.map { "<path class=\"pv\" d=\"M\(Self.rounded($0)) 0v20\"/>" } ?? ""
        return ConsoleViews.Markup(
            renderText: "<svg class=\"span\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                + "\(mark)<rect class=\"\(style.isEmpty ? "c" : style)\" x=\"\(Self.rounded(from))\" y=\"5\" "
                + "width=\"\(Self.rounded(width))\" height=\"10\"/></svg>")
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
