import ScribeDomain
import Testing

struct ChunkListTests {
    @Test("full addresses are kept as the names that they end in, with the times that were said of them")
    func addresses() {
        let times = ChunkTimes(start: 0, end: 10)
        let list = ChunkList(files: ["s3://b/f/1.wav", "2.wav"], times: ["s3://b/f/1.wav": times, "2.wav": times])
        #expect(list.files == ["1.wav", "2.wav"])
        #expect(list.times == ["1.wav": times, "2.wav": times])
    }
}
