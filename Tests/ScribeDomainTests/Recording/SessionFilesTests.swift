import ScribeDomain
import Testing

struct SessionFilesTests {
    @Test("a protocol session's audio is every file except manifests and the archived full recording")
    func names() {
        let names = ["audio_1.mp3", "visit.wav", "chunk_0.wav", "session.json", "full_audio.m4a_", "2", "a.b"]
        #expect(SessionFiles.audio(among: names) == ["chunk_0.wav", "audio_1.mp3", "2", "a.b", "visit.wav"])
    }

    @Test(
        "the number of a protocol session's file is the last run of digits before the last dot",
        arguments: [
            ("audio_1.mp3", 1), ("1.m4a", 1), ("chunk_0.wav", 0), ("visit.wav", nil), ("visit.mp3", nil),
            ("day2_part10.wav", 10), ("2_of_visit.wav", 2), ("12", 12), ("007.wav", 7), ("", nil), (".5", nil),
            ("1234567890.wav", nil), ("a.1.wav", 1), ("naïve3.wav", 3), ("٣.wav", nil),
        ])
    func numbers(name: String, number: Int?) {
        #expect(SessionFiles.number(of: name) == number)
    }

    @Test("a protocol session's numbered files come first, by number and then by name")
    func order() {
        #expect(
            SessionFiles.audio(among: ["b.wav", "10.wav", "audio_2.mp3", "2.wav", "a.wav", "1.wav"])
                == ["1.wav", "2.wav", "audio_2.mp3", "10.wav", "a.wav", "b.wav"])
    }
}
