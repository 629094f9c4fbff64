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

    @Test("speech detection splits at 300 ms of frames below a hundredth of full scale")
    func pauses() {
        var ranges = SpeechRanges()
        let frames = [(25, -20.0), (14, -41), (25, -39), (16, -90), (25, -20)]
        ranges.add(frames.flatMap { [Double](repeating: $0.1, count: $0.0) }, from: 0)
        let places = ranges.ranges.map { [$0.lowerBound, $0.upperBound].map { ($0 * 100).rounded() / 100 } }
        #expect(places == [[0, 1.28], [1.6, 2.1]])
    }

    @Test("a voice across two pieces of a long WAV is one range of speech")
    func pieces() throws {
        var wave = TestAudio.wav(seconds: 700, tone: 100, rate: 4000, isSilent: true)
        let loud = TestAudio.wav(seconds: 4, tone: 37, rate: 4000)
        let voice = Data(loud.dropFirst(44).enumerated().map { $0.offset % 2 == 0 ? 0 : 16 })
        let start = 44 + 598 * 8000
        wave.replaceSubrange(start..<(start + voice.count), with: voice)
        let ranges = try #require(SpeechRanges(ofWave: AudioBytes(wave), from: 10))
        #expect(ranges.ranges.map { [$0.lowerBound.rounded(), $0.upperBound.rounded()] } == [[608, 612]])
    }

    @Test("words without times are placed in the ranges of speech, in order and in proportion to the time")
    func places() {
        let speech = RecognisedSpeech(text: "one two three four five six seven eight nine")
        let words = speech.words(in: Self.ranges((1, 1), (4, 2)), over: 10)
        #expect(words.map(\.text) == speech.text.split(separator: " ").map(String.init))
        #expect(words.count { $0.start >= 1 && $0.end <= 2.01 } == 3)
        #expect(words.count { $0.start >= 4 && $0.end <= 6.01 } == 6)
    }

    @Test("untimed words are split at a pause behind a sentence that ends at most three words away")
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

    @Test("a recogniser's word times are kept, and untimed words without detected speech are spread evenly")
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
