import ScribeDomain
import Testing

struct RepeatedSegmentsTests {
    private func segments(_ texts: String...) -> [ConversationSegment] {
        texts.enumerated().map { ConversationSegment(id: "\($0)", text: $1, provider: nil) }
    }

    /// What is taken for new of texts that come one after another, and what is held at their end.
    private func new(_ stored: [String], then texts: [String]) -> (new: [String], held: [String]) {
        var repeated = RepeatedSegments(stored.map { ConversationSegment(id: $0, text: $0, provider: nil) })
        let new = texts.flatMap { repeated.take(ConversationSegment(id: "new", text: $0, provider: nil)) }
        return (new.map(\.text), repeated.release().map(\.text))
    }

    @Test("untimed segments that repeat the end of the stored segments, in order, are dropped")
    func untimed() {
        #expect(new(["a", "b", "c"], then: ["b", "c", "d"]) == (["d"], []))
        #expect(new(["a", "b", "c"], then: ["c", "c"]) == (["c"], []))
        #expect(new(["yes"], then: ["yes", "yes"]) == (["yes"], []))
        #expect(new(["a", "b", "c"], then: ["a", "b", "c", "a", "b", "c"]) == (["a", "b", "c"], []))
    }

    @Test("untimed segments that only begin like a repetition are kept, in order")
    func beginnings() {
        #expect(new(["a", "b"], then: ["a", "x"]) == (["a", "x"], []))
        #expect(new(["yes", "yes", "no"], then: ["yes"]) == ([], ["yes"]))
        #expect(new(["yes", "no", "yes"], then: ["yes", "no", "maybe"]) == (["no", "maybe"], []))
        #expect(new(["yes", "no", "yes"], then: ["yes", "no", "yes"]) == ([], []))
        #expect(new([], then: ["a", "a"]) == (["a", "a"], []))
    }

    @Test("a timed segment is dropped if one with the same times, speaker and text is stored")
    func timed() {
        let stored = ConversationSegment(id: "1", text: "a", start: 1, end: 2, provider: nil)
        var repeated = RepeatedSegments([stored])
        #expect(repeated.take(stored) == [])
        #expect(repeated.take(stored) == [])
        let later = ConversationSegment(id: "2", text: "a", start: 1, end: 3, provider: nil)
        #expect(repeated.take(later) == [later])
        let other = ConversationSegment(id: "3", text: "a", speaker: "SPEAKER_01", start: 1, end: 2, provider: nil)
        #expect(repeated.take(other) == [other])
    }

    @Test("a timed segment that is sent twice over one connection was said twice")
    func repeatedTimed() {
        var repeated = RepeatedSegments([])
        let segment = ConversationSegment(id: "1", text: "a", start: 1, end: 2, provider: nil)
        let again = ConversationSegment(id: "2", text: "a", start: 1, end: 2, provider: nil)
        #expect(repeated.take(segment) == [segment])
        #expect(repeated.take(again) == [again])
    }

    @Test("a segment with new times releases the held untimed segments before it, in order")
    func mixed() {
        var repeated = RepeatedSegments(segments("a", "b"))
        #expect(repeated.take(ConversationSegment(id: "1", text: "a", provider: nil)) == [])
        let later = ConversationSegment(id: "2", text: "x", start: 1, end: 2, provider: nil)
        #expect(repeated.take(later).map(\.text) == ["a", "x"])
    }

    @Test(
        "a speaker's number is the number at the end of the speaker's name",
        arguments: [
            ("SPEAKER_00", 0), ("SPEAKER_07", 7), ("SPEAKER_12", 12), ("x", 0), ("7up", 0),
            ("S_9999999999999999999", 0),
            ("SPEAKER_-3", 3),
        ])
    func speakers(name: String, number: Int) {
        #expect(ConversationSegment(id: "", text: "x", speaker: name, provider: nil).speakerID == number)
    }
}
