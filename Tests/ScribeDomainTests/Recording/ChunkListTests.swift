import ScribeDomain
import Testing

struct ChunkListTests {
    @Test("a chunk list keeps a full URL as its file name, with the times that were given for the URL")
    func addresses() {
        let times = ChunkTimes(start: 0, end: 10)
        let list = ChunkList(files: ["s3://b/f/1.wav", "2.wav"], times: ["s3://b/f/1.wav": times, "2.wav": times])
        #expect(list.files == ["1.wav", "2.wav"])
        #expect(list.times == ["1.wav": times, "2.wav": times])
    }
}
