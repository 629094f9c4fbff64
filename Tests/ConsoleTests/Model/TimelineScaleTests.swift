import Testing

@testable import Console

struct TimelineScaleTests {
    @Test("what comes after the commit has more room than the recording before it")
    func commit() {
        let scale = TimelineScale([0...0.01, 300...300.02, 600...600, 600...600.2], marks: [600])
        #expect(scale.marks == [400] && scale.lengths[0] == 600)
        #expect(scale.place(of: 0) == 0 && scale.place(of: 600) == 400)
        #expect(abs(scale.place(of: 600.1) - 700) < 1 && abs(scale.place(of: 600.2) - 1000) < 1)
    }

    @Test("a stretch without events takes no more room than all that happens")
    func pause() {
        // An hour between two attempts.
        let scale = TimelineScale([0...2, 3602...3604], marks: [])
        #expect(scale.marks.isEmpty && scale.lengths == [3604])
        #expect(abs(scale.place(of: 2) - 250) < 1 && abs(scale.place(of: 3602) - 750) < 1)
    }

    @Test("what comes after the results takes the last part, however late it comes")
    func late() {
        let scale = TimelineScale([0...0.1, 1...1.5, 3600...3600.1], marks: [1, 1.5])
        #expect(scale.marks == [350, 850] && abs(scale.place(of: 1.25) - 600) < 1 && scale.place(of: 3600) > 850)
    }

    @Test(
        "places rise with time, and bars stay within the scale",
        arguments: [[], [0.0], [2.0], [7.5, 8.0], [8.0, 7.5], [9.0], [20.0]])
    func order(marks: [Double]) {
        let spans = [0.0...0.0, 1.0...4.0, 2.0...3.0, 3.5...9.0, 9.0...9.0]
        let scale = TimelineScale(spans, marks: marks)
        let places = stride(from: 0.0, through: 9.0, by: 0.25).map(scale.place)
        #expect(places == places.sorted() && places.allSatisfy { (0...1000).contains($0) })
        for span in spans {
            let bar = scale.bar(of: span, style: "u").renderText
            let numbers = bar.matches(of: /\ (?:x|width)="([0-9.]+)"/).compactMap { Double($0.1) }
            #expect(numbers.count == 2 && numbers.reduce(0, +) <= 1000.1, "\(bar)")
        }
    }

    @Test("a timeline of one moment has a bar")
    func moment() {
        let scale = TimelineScale([0...0], marks: [0])
        #expect(scale.bar(of: 0...0, style: "").renderText.contains(#"<rect class="c" x="0.0""#))
        #expect(TimelineScale([], marks: []).place(of: 3) == 0)
    }

    @Test(
        "spans are told to the millisecond, and long ones to the second or the minute",
        arguments: [
            (0.0, "0 ms"), (0.0234, "23 ms"), (0.9999, "1.000 s"), (12.3456, "12.346 s"), (62.005, "1:02.005"),
            (-1, "0 ms"), (3723.5, "1:02:03"), (604_799, "6 d 23:59"),
        ])
    func exact(seconds: Double, text: String) {
        #expect(RecordingState.exact(seconds) == text)
    }
}
