/// Tells, after a connection was lost, what a device sends again of what is stored already (streaming.md 4.9): a timed
/// segment by its times, an untimed one only while it repeats, in order, the end of what was stored, so that no second
/// "yes" is lost. A timed one that comes twice over one connection is the same too (row 64).
package struct RepeatedSegments: Hashable, Sendable {
    /// What tells one segment from another.
    private struct Mark: Hashable {
        let speaker: String
        let start: Double
        let end: Double
        let text: String

        init(_ segment: ConversationSegment) {
            (speaker, start, end, text) = (segment.speaker, segment.start, segment.end, segment.text)
        }
    }

    private var timed: Set<Mark>
    /// The untimed ones at the end of what was stored.
    private let tail: [ConversationSegment]
    /// Where in the tail the next one must be, for each place at which the repetition may have begun.
    private var places: [Int] = []
    private var held: [ConversationSegment] = []
    private var hasBegun = false

    /// - Parameter stored: what was there when the connection was made.
    package init(_ stored: [ConversationSegment]) {
        timed = Set(stored.filter(\.isTimed).map(Mark.init))
        tail = Array(stored.reversed().prefix { !$0.isTimed }.reversed())
    }

    /// Whether it is not known yet of some whether they are new.
    package var holdsAny: Bool { !held.isEmpty }

    /// Whether a timed one has come before.
    package func knows(_ segment: ConversationSegment) -> Bool { segment.isTimed && timed.contains(Mark(segment)) }

    /// - Returns: what is new, in order: perhaps with some that had to wait for this one.
    package mutating func take(_ segment: ConversationSegment) -> [ConversationSegment] {
        // What is new shows that those before it were, too.
        if segment.isTimed { return timed.insert(Mark(segment)).inserted ? release() + [segment] : [] }
        guard !hasBegun || !places.isEmpty else { return [segment] }
        let candidates = hasBegun ? places : Array(tail.indices)
        hasBegun = true
        places = candidates.filter { $0 < tail.count && Mark(tail[$0]) == Mark(segment) }.map { $0 + 1 }
        guard !places.isEmpty else { return release() + [segment] }
        held.append(segment)
        // To the end of what was stored: these were repetitions.
        if places.contains(tail.count) { held = [] }
        return []
    }

    /// Those that wait, once it is clear that no more of a repetition follows: they were new.
    package mutating func release() -> [ConversationSegment] {
        defer { held = [] }
        places = []
        hasBegun = true
        return held
    }
}
