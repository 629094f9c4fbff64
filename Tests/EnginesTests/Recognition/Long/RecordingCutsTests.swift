import Testing

@testable import Engines

struct RecordingCutsTests {
    @Test("a long recording is cut in the last pause that leaves no piece too long")
    func pauses() {
        let cuts = RecordingCuts(duration: 50, silences: [4...5, 12...14, 18...19, 33...35, 48...49], longest: 20)
        #expect(cuts.pieces == [0...18.5, 18.5...34, 34...50])
    }

    @Test("a long recording without a usable pause is cut at the longest length")
    func noPauses() {
        #expect(RecordingCuts(duration: 45, silences: [], longest: 20).pieces == [0...20, 20...40, 40...45])
        #expect(RecordingCuts(duration: 25, silences: [1...2], longest: 20).pieces == [0...20, 20...25])
    }

    @Test(
        "the pieces of a long recording follow each other and cover all of it",
        arguments: [0.5, 19.9, 20, 20.1, 61, 3600])
    func whole(duration: Double) {
        let silences = stride(from: 3.0, to: duration, by: 7.3).map { $0...($0 + 0.5) }
        let pieces = RecordingCuts(duration: duration, silences: silences, longest: 20).pieces
        #expect(pieces.first?.lowerBound == 0)
        #expect(pieces.last?.upperBound == duration)
        #expect(pieces.allSatisfy { $0.upperBound - $0.lowerBound <= 20 })
        #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    @Test("silences are read from ffmpeg's report, and its other lines are ignored")
    func report() {
        let report = """
            Input #0, wav, from 'x':
            [silencedetect @ 0x1] silence_start: -0.01
            [silencedetect @ 0x1] silence_end: 1.25 | silence_duration: 1.26
            [silencedetect @ 0x1] silence_start: 7.5
            """
        #expect(RecordingCuts.silences(inReport: report) == [0...1.25])
    }
}
