import ScribeDomain
import Testing

struct TranscriptTests {
    func chunk(_ number: Int, _ text: String, _ start: Double? = nil, _ end: Double? = nil) -> ChunkOutcome {
        let times = start.flatMap { start in end.map { ChunkTimes(start: start, end: $0) } }
        return ChunkOutcome(file: "\(number).m4a", times: times, result: .success(RecognisedSpeech(text: text)))
    }

    func failed(_ number: Int, _ code: Diagnostic.Code) -> ChunkOutcome {
        ChunkOutcome(file: "\(number).m4a", times: nil, result: .failure(Diagnostic(code, "")))
    }

    @Test("words at a seam of overlapping chunks are kept once, whatever their case and punctuation")
    func overlappingSeam() {
        let transcript = Transcript(stitching: [
            chunk(1, "I have a fever since Monday.", 0, 10), chunk(2, "Since monday and a cough", 9.5, 20),
        ])
        #expect(transcript.text == "I have a fever since Monday.\nand a cough")
        #expect(transcript.status == .success)
    }

    @Test("words at a seam are kept twice if the chunks do not overlap, or have no times")
    func separateSeam() {
        #expect(
            Transcript(stitching: [chunk(1, "no", 0, 10), chunk(2, "no pain", 10, 20)]).text == "no no pain"
        )
        #expect(Transcript(stitching: [chunk(1, "no"), chunk(2, "no pain")]).text == "no no pain")
    }

    @Test("at most four words are compared at a seam of two chunks")
    func longSeam() {
        let transcript = Transcript(stitching: [chunk(1, "a b c d e", 0, 10), chunk(2, "a b c d e f", 9.5, 20)])
        #expect(transcript.text == "a b c d e a b c d e f")
        let four = Transcript(stitching: [chunk(1, "a b c d e", 0, 10), chunk(2, "b c d e f", 9.5, 20)])
        #expect(four.text == "a b c d e f")
    }

    @Test("lines within a chunk are kept in the transcript")
    func lines() {
        #expect(Transcript(stitching: [chunk(1, "one two\nthree"), chunk(2, "four")]).text == "one two\nthree four")
    }

    @Test("silent chunks are no failure of the transcript if another chunk has words")
    func silence() {
        let transcript = Transcript(stitching: [chunk(1, ""), chunk(2, "hello"), chunk(3, " \n")])
        #expect(transcript.text == "hello")
        #expect(transcript.status == .success)
    }

    @Test("a transcript without audio is no_audio, and one without words is no_speech")
    func nothing() {
        let empty = Transcript(stitching: [])
        #expect(empty.status == .failure)
        #expect(empty.errors.map(\.code) == [.noAudio])
        let silent = Transcript(stitching: [chunk(1, "")])
        #expect(silent.status == .failure)
        #expect(silent.errors.map(\.code) == [.noSpeech])
    }

    @Test("one failed chunk among others makes a partial success with a warning that names the file")
    func partial() throws {
        let transcript = Transcript(stitching: [chunk(1, "hello"), failed(2, .undecodableAudio)])
        #expect(transcript.status == .partialSuccess)
        #expect(transcript.errors.isEmpty)
        let warning = try #require(transcript.warnings.first)
        #expect(warning.code == .undecodableAudio)
        #expect(warning.message.contains("2.m4a"))
    }

    @Test("a transcript of failed chunks lists each kind of failure once")
    func allFailed() {
        let transcript = Transcript(stitching: [
            failed(1, .undecodableAudio), failed(2, .emptyAudio), failed(3, .undecodableAudio),
        ])
        #expect(transcript.status == .failure)
        #expect(transcript.errors.map(\.code) == [.emptyAudio, .undecodableAudio])
        #expect(transcript.errors.last?.message.contains("1.m4a, 3.m4a") == true)
    }

    @Test("a chunk number is missing between 1 and the highest number only, and never number 0")
    func noGap() {
        for numbers in [[0], [0, 1], [1], [1, 2], []] {
            #expect(Transcript(stitching: numbers.map { chunk($0, "a") }).warnings.isEmpty, "\(numbers)")
        }
        #expect(
            Transcript(stitching: [chunk(0, "a"), chunk(2, "b")]).warnings
                == [Diagnostic(.chunkGap, "Chunks were not committed: 1")])
    }

    @Test("a silent recording's hint is an error if no chunk has words, and is left out otherwise")
    func silentAudio() {
        let hint = Diagnostic(.noSpeech, "the audio is silent")
        func silent(_ number: Int) -> ChunkOutcome {
            ChunkOutcome(
                file: "\(number).m4a", times: nil, result: .success(RecognisedSpeech(text: "", warnings: [hint])))
        }
        let nothing = Transcript(stitching: [silent(1), silent(2)])
        #expect(nothing.status == .failure)
        #expect(nothing.errors == [hint])
        #expect(nothing.warnings.isEmpty)
        let something = Transcript(stitching: [silent(1), chunk(2, "hello")])
        #expect(something.status == .success)
        #expect(something.errors.isEmpty && something.warnings.isEmpty)
    }

    @Test("a transcript with a gap in the chunk numbers succeeds, with a warning")
    func gap() {
        let transcript = Transcript(stitching: [chunk(1, "a"), chunk(2, "b"), chunk(4, "d")])
        #expect(transcript.status == .success)
        #expect(transcript.warnings == [Diagnostic(.chunkGap, "Chunks were not committed: 3")])
        #expect(Transcript(stitching: [chunk(7, "a")], areNumbered: false).warnings.isEmpty)
    }

    @Test("text that is cut into chunks with shared words is the same text after stitching", arguments: 0..<40)
    func stitchingInvertsCutting(seed: Int) {
        // Words that repeat nowhere, so that only the cuts decide.
        let words = (0..<(20 + seed)).map { "w\(($0 * 7919 + seed) % 10_007)" }
        var chunks: [ChunkOutcome] = []
        var position = 0
        var number = 1
        while position < words.count {
            let length = 4 + (number * 5 + seed) % 9
            let end = min(words.count, position + length)
            let overlap = position == 0 ? 0 : min((number + seed) % 5, position, chunks.count * 4)
            let text = words[(position - overlap)..<end].joined(separator: " ")
            chunks.append(chunk(number, text, Double(number * 10) - 0.5, Double(number * 10) + 10))
            position = end
            number += 1
        }
        #expect(Transcript(stitching: chunks).text == words.joined(separator: " "))
    }
}
