import Foundation
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct VoicedRangesTests {
    private static func ranges(_ spoken: (Double, Double)...) -> SpeechRanges {
        var ranges = SpeechRanges()
        for (start, length) in spoken {
            ranges.add([Double](repeating: -20, count: Int((length * 50).rounded())), from: start)
        }
        return ranges
    }

    @Test("a pause is 300 ms long, and what is quieter than a hundredth of full scale is none of a voice's")
    func pauses() {
        var ranges = SpeechRanges()
        let frames = [(25, -20.0), (14, -41), (25, -39), (16, -90), (25, -20)]
        ranges.add(frames.flatMap { [Double](repeating: $0.1, count: $0.0) }, from: 0)
        let places = ranges.ranges.map { [$0.lowerBound, $0.upperBound].map { ($0 * 100).rounded() / 100 } }
        #expect(places == [[0, 1.28], [1.6, 2.1]])
    }

    @Test("a WAV is looked at in pieces, and a voice over the seam of two is one range")
    func pieces() throws {
        var wave = TestAudio.wav(seconds: 700, tone: 100, rate: 4000, isSilent: true)
        let loud = TestAudio.wav(seconds: 4, tone: 37, rate: 4000)
        let voice = Data(loud.dropFirst(44).enumerated().map { $0.offset % 2 == 0 ? 0 : 16 })
        let start = 44 + 598 * 8000
        wave.replaceSubrange(start..<(start + voice.count), with: voice)
        let ranges = try #require(SpeechRanges(ofWave: AudioBytes(wave), from: 10))
        #expect(ranges.ranges.map { [$0.lowerBound.rounded(), $0.upperBound.rounded()] } == [[608, 612]])
    }

    @Test("words without times lie where somebody speaks, as many as there is time for, and in their order")
    func places() {
        let speech = RecognisedSpeech(text: "one two three four five six seven eight nine")
        let words = speech.words(in: Self.ranges((1, 1), (4, 2)), over: 10)
        #expect(words.map(\.text) == speech.text.split(separator: " ").map(String.init))
        #expect(words.count { $0.start >= 1 && $0.end <= 2.01 } == 3)
        #expect(words.count { $0.start >= 4 && $0.end <= 6.01 } == 6)
    }

    @Test("a pause falls behind a sentence that ends near it, and never farther than three words away")
    func sentences() {
        func first(_ text: String) -> Int {
            RecognisedSpeech(text: text).words(in: Self.ranges((0, 2), (4, 2)), over: 6).count { $0.end < 3 }
        }
        #expect(first("a b c d e. f g h i j") == 5)
        #expect(first("a b c. d e f g h i j") == 3)
        #expect(first("a b c d e f g h. i j") == 8)
        #expect(first("a. b c d e f g h i j") == 5)
        #expect(first("a b c d. e f. g h i j k l") == 6)
    }

    @Test("times of the recogniser stay; words of a recording in which nobody was found follow each other evenly")
    func exceptions() {
        let timed = TimedWord(text: "fever", start: 8, end: 9)
        let known = RecognisedSpeech(text: "fever", words: [timed])
        #expect(known.words(in: Self.ranges((0, 1)), over: 10) == [timed])
        let evenly = RecognisedSpeech(text: "a b").words(in: SpeechRanges(), over: 4)
        #expect(evenly.map(\.start) == [0, 2])
        #expect(RecognisedSpeech(text: "").words(in: Self.ranges((0, 1), (2, 1)), over: 4).isEmpty)
        let few = RecognisedSpeech(text: "yes").words(in: Self.ranges((0, 1), (2, 1), (4, 1)), over: 5)
        #expect(few.map(\.text) == ["yes"])
    }
}
