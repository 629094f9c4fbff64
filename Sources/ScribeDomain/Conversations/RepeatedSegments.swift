/// Filters out segments that a device sends again, although stored, after a lost connection (streaming.md 4.9).
///
/// Within one connection every segment counts. A timed segment is repeated if its times match a stored one's (row 64).
/// An untimed segment is repeated only while the device sends the end of the stored segments in order. Otherwise a
/// second "yes" would be lost.
package struct RepeatedSegments: Hashable, Sendable {
    /// Fields that identify a segment.
    private struct Mark: Hashable {
        let speaker: String
        let start: Double
        let end: Double
        let text: String

        init(_ segment: ConversationSegment) {
            (speaker, start, end, text) = (segment.speaker, segment.start, segment.end, segment.text)
        }
    }

    private let timed: Set<Mark>
    /// Untimed segments at the end of the stored ones.
    private let tail: [ConversationSegment]
    /// Next expected index in the tail, for each possible start of the repetition.
    private var places: [Int] = []
    private var held: [ConversationSegment] = []
    private var hasBegun = false

    /// Creates a filter for one connection.
    /// - Parameter stored: segments stored before the connection was opened.
    package init(_ stored: [ConversationSegment]) {
        timed = Set(stored.filter(\.isTimed).map(Mark.init))
        tail = Array(stored.reversed().prefix { !$0.isTimed }.reversed())
    }

    /// Whether segments are held back until the filter knows whether they are new.
    package var holdsAny: Bool { !held.isEmpty }

    /// Whether a timed segment was stored before.
    package func knows(_ segment: ConversationSegment) -> Bool { segment.isTimed && timed.contains(Mark(segment)) }

    /// Takes the next segment of the connection.
    /// - Returns: the new segments in order, including segments that were held back.
    package mutating func take(_ segment: ConversationSegment) -> [ConversationSegment] {
        // A new segment shows that the segments held before it were new as well.
        if segment.isTimed { return knows(segment) ? [] : release() + [segment] }
        guard !hasBegun || !places.isEmpty else { return [segment] }
        let candidates = hasBegun ? places : Array(tail.indices)
        hasBegun = true
        places = candidates.filter { $0 < tail.count && Mark(tail[$0]) == Mark(segment) }.map { $0 + 1 }
        guard !places.isEmpty else { return release() + [segment] }
        held.append(segment)
        // The repetition reached the end of the stored segments: the held segments were repeated.
        if places.contains(tail.count) { held = [] }
        return []
    }

    /// Returns the held segments as new ones, once the repetition cannot continue.
    package mutating func release() -> [ConversationSegment] {
        defer { held = [] }
        places = []
        hasBegun = true
        return held
    }
}
