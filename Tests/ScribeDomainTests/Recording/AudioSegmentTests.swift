import Foundation
import ScribeDomain
import Testing

struct AudioSegmentTests {
    private func segment(_ recording: String, at seconds: Double, _ lengths: Double...) -> AudioSegment {
        AudioSegment(
            recording: recording, startedAt: Date(timeIntervalSince1970: seconds),
            files: lengths.enumerated().map { .init(name: AudioSegment.fileName($0 + 1, of: recording), seconds: $1) }
        )
    }

    @Test(
        "uploaded stretches are ordered by start time, and of equal starts the longest counts, else the first")
    func recorded() {
        let segments = [
            segment("c", at: 60, 20, 5), segment("a", at: 0, 10), segment("b", at: 30, 7), segment("b2", at: 30, 7),
            segment("a2", at: 0, 20, 1), segment("a3", at: 0), segment("d", at: 10_000_000),
        ]
        #expect(segments.recorded.map(\.recording) == ["a2", "b", "c"])
        let chunks = segments.recorded.chunks
        #expect(chunks.files == ["a2-000001.wav", "a2-000002.wav", "b-000001.wav", "c-000001.wav", "c-000002.wav"])
        #expect(chunks.times["b-000001.wav"] == ChunkTimes(start: 21, end: 28))
        #expect(chunks.times["c-000002.wav"] == ChunkTimes(start: 48, end: 53))
        #expect([AudioSegment]().recorded.isEmpty)
    }

    @Test("the file names of a stretch sort as texts in the order of their numbers")
    func names() {
        let names = [1, 2, 9, 10, 99_999, 100_000].map { AudioSegment.fileName($0, of: "r") }
        #expect(names == names.sorted())
    }
}
