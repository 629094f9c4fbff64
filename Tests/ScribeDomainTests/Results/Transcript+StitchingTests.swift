import Foundation
import ScribeDomain
import Testing

/// Cuts a text into overlapping chunks, as a recorder does with the audio, and puts it together again.
struct StitchingTests {
    /// A small generator, so that the same cuts are tried every time.
    struct Cuts {
        var state: UInt64

        mutating func next(_ range: ClosedRange<Int>) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int(state >> 33) % range.count
        }
    }

    /// Words that differ from each other, a fifth of a second each: recorders repeat at most five.
    static func words(_ count: Int) -> [String] { (0..<count).map { "word\($0)" } }
    static let pace = 0.2

    /// - Parameters:
    ///   - hasTimes: whether the recogniser tells when each word was spoken.
    ///   - speakers: who says each of the words; a line for each turn then.
    func chunk(
        _ words: [String], _ range: Range<Int>, hasTimes: Bool, speakers: [Int]? = nil
    ) -> ChunkOutcome {
        let times = ChunkTimes(start: Double(range.lowerBound) * Self.pace, end: Double(range.upperBound) * Self.pace)
        let timed = range.enumerated().map { index, place in
            TimedWord(
                text: words[place], start: Double(index) * Self.pace, end: Double(index + 1) * Self.pace,
                // Each chunk has its own numbers for the same people.
                speaker: speakers.map { ($0[place] + range.lowerBound) % 2 })
        }
        let speech = RecognisedSpeech(text: lines(words, range, speakers), words: hasTimes ? timed : [])
        return ChunkOutcome(file: "1.wav", times: times, result: .success(speech))
    }

    func lines(_ words: [String], _ range: Range<Int>, _ speakers: [Int]?) -> String {
        range.reduce("") { text, place in
            let isTurn = place > range.lowerBound && speakers.map { $0[place] != $0[place - 1] } ?? false
            return text + (text.isEmpty ? "" : isTurn ? "\n" : " ") + words[place]
        }
    }

    @Test("text that is cut into overlapping chunks is the same text after stitching", arguments: [true, false])
    func givesBack(hasTimes: Bool) {
        for seed in 1...300 {
            var cuts = Cuts(state: UInt64(seed))
            let words = Self.words(cuts.next(2...80))
            var chunks: [ChunkOutcome] = []
            var start = 0
            while start < words.count {
                let end = min(words.count, start + cuts.next(6...20))
                chunks.append(chunk(words, start..<end, hasTimes: hasTimes))
                guard end < words.count else { break }
                // Without times no more than four words are compared.
                start = end - cuts.next(0...(hasTimes ? 5 : 4))
            }
            #expect(Transcript(stitching: chunks).text == words.joined(separator: " "), "seed \(seed)")
        }
    }

    @Test("a turn across a chunk seam stays one line, and two speakers with the same words stay apart")
    func turns() {
        for seed in 1...300 {
            var cuts = Cuts(state: UInt64(seed))
            let words = (0..<cuts.next(10...80)).map { _ in ["yes", "no", "often"][cuts.next(0...2)] }
            var speakers: [Int] = []
            while speakers.count < words.count {
                speakers += Array(repeating: (speakers.last ?? 0) ^ 1, count: cuts.next(1...12))
            }
            var chunks: [ChunkOutcome] = []
            var start = 0
            while start < words.count {
                let end = min(words.count, start + cuts.next(6...20))
                chunks.append(chunk(words, start..<end, hasTimes: true, speakers: speakers))
                start = end == words.count ? end : end - cuts.next(1...4)
            }
            #expect(Transcript(stitching: chunks).text == lines(words, 0..<words.count, speakers), "seed \(seed)")
        }
    }

    func timed(_ text: String, from start: Double, _ end: Double, pace: Double = 0.5) -> ChunkOutcome {
        let words = text.split(separator: " ").enumerated().map { index, word in
            TimedWord(text: String(word), start: Double(index) * pace, end: Double(index + 1) * pace)
        }
        return ChunkOutcome(
            file: "1.wav", times: ChunkTimes(start: start, end: end),
            result: .success(RecognisedSpeech(text: text, words: words)))
    }

    @Test("a word that a chunk seam cuts is taken from the chunk that has all of it")
    func cutWords() {
        // The first ends within "hypertension", the second begins within "diagnosed".
        let first = timed("I was diagnosed with hyper tens", from: 0, 1.5, pace: 0.25)
        let second = timed("nosed with hypertension last year", from: 0.5, 2, pace: 0.25)
        #expect(Transcript(stitching: [first, second]).text == "I was diagnosed with hypertension last year")
    }

    @Test("chunks without a common word at their seam each keep their half of the overlap")
    func differing() {
        let first = timed("one two three four", from: 0, 2)
        let second = timed("drei vier five six", from: 1, 3)
        #expect(Transcript(stitching: [first, second]).text == "one two three vier five six")
    }

    @Test("a dash before a turn counts as no word, and the chunk's word times stay usable")
    func dashes() throws {
        var speech = try timed("I was diagnosed with hyper tens", from: 0, 1.5, pace: 0.25).result.get()
        speech.text = "- " + speech.text
        let first = ChunkOutcome(file: "1.wav", times: ChunkTimes(start: 0, end: 1.5), result: .success(speech))
        let second = timed("nosed with hypertension last year", from: 0.5, 2, pace: 0.25)
        #expect(Transcript(stitching: [first, second]).text == "- I was diagnosed with hypertension last year")
    }

    @Test("words at a seam are merged if they have the same time, also if they were said more than once")
    func sameTime() {
        let first = timed("I said no no", from: 0, 2)
        let second = timed("no pain at all", from: 1.5, 3.5)
        #expect(Transcript(stitching: [first, second]).text == "I said no no pain at all")
    }

    @Test("words that were said twice away from a seam stay twice")
    func repetition() {
        let first = timed("no no no", from: 0, 1.5)
        let second = timed("no pain", from: 1.5, 2.5)
        #expect(Transcript(stitching: [first, second]).text == "no no no no pain")
    }

    @Test("word times that do not match the chunk's text are ignored at a seam")
    func unusableWords() {
        let speech = RecognisedSpeech(text: "b c d", words: [TimedWord(text: "b", start: 0, end: 1)])
        let first = ChunkOutcome(
            file: "1.wav", times: ChunkTimes(start: 0, end: 2), result: .success(RecognisedSpeech(text: "a b")))
        let second = ChunkOutcome(file: "2.wav", times: ChunkTimes(start: 1, end: 3), result: .success(speech))
        #expect(Transcript(stitching: [first, second]).text == "a b c d")
    }

    /// Times that clients send for three chunks of 10 s, and the warning about them.
    private static let wrongTimes: [([(Double, Double)?], Diagnostic.Code?)] = [
        ([(0, 10), (0, 10), (0, 10)], .chunkOverlap), ([(0, 10), (0, 9), (0, 8)], .chunkOverlap),
        ([(20, 30), (10, 20), (0, 10)], .chunkOverlap), ([(10, 0), (20, 10), (30, 20)], .chunkOverlap),
        ([(0, 10), (5, 15), (10, 20)], .chunkOverlap), ([(0, 10_000), (9500, 19_500), (19_000, 29_000)], .chunkGap),
        ([(0, 10), (40, 50), (80, 90)], .chunkGap), ([nil, (0, 10), nil], nil), ([nil, nil, nil], nil),
        ([(0, 1), (0.9, 2), (1.9, 3)], .chunkOverlap), ([(0, 10), (9.5, 19.5), (19, 29)], nil),
    ]

    @Test("no word is dropped, whatever times a client sends", arguments: wrongTimes, [true, false])
    func wrong(_ given: ([(Double, Double)?], Diagnostic.Code?), hasTimes: Bool) {
        let texts = (0..<3).map { chunk in (0..<20).map { "word\(chunk)x\($0)" }.joined(separator: " ") }
        let chunks = zip(texts, given.0).enumerated().map { place, chunk in
            let (text, times) = chunk
            let words = text.split(separator: " ").enumerated().map {
                TimedWord(text: String($1), start: Double($0) * 0.47, end: Double($0 + 1) * 0.47)
            }
            return ChunkOutcome(
                file: "\(place + 1).wav", times: times.map { ChunkTimes(start: $0.0, end: $0.1) },
                result: .success(RecognisedSpeech(text: text, words: hasTimes ? words : [], duration: 10)))
        }
        let transcript = Transcript(stitching: chunks)
        #expect(transcript.text.split { $0.isWhitespace } == texts.flatMap { $0.split(separator: " ") })
        #expect(Set(transcript.warnings.map(\.code)) == Set([given.1].compactMap(\.self)))
        #expect(transcript.status == .success)
    }

    @Test("a transcript in more than two languages has a warning and is no failure")
    func languages() {
        let transcript = Transcript(stitching: [timed("one", from: 0, 1)], languages: ["en", "hi", "ta"])
        #expect(transcript.status == .success)
        #expect(transcript.warnings.map(\.code) == [.languagesIgnored])
    }
}
