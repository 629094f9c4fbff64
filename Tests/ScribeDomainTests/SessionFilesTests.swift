import ScribeDomain
import Testing

struct SessionFilesTests {
    @Test("what is no description and no second copy is audio, whatever it is called")
    func names() {
        let names = ["audio_1.mp3", "visit.wav", "chunk_0.wav", "session.json", "full_audio.m4a_", "2", "a.b"]
        #expect(SessionFiles.audio(among: names) == ["chunk_0.wav", "audio_1.mp3", "2", "a.b", "visit.wav"])
    }

    @Test(
        "the number is the last run of digits before the last dot",
        arguments: [
            ("audio_1.mp3", 1), ("1.m4a", 1), ("chunk_0.wav", 0), ("visit.wav", nil), ("visit.mp3", nil),
            ("day2_part10.wav", 10), ("2_of_visit.wav", 2), ("12", 12), ("007.wav", 7), ("", nil), (".5", nil),
            ("1234567890.wav", nil), ("a.1.wav", 1), ("naïve3.wav", 3), ("٣.wav", nil),
        ])
    func numbers(name: String, number: Int?) {
        #expect(SessionFiles.number(of: name) == number)
    }

    @Test("numbered ones come first, by number and then by name, and two with one number both count")
    func order() {
        #expect(
            SessionFiles.audio(among: ["b.wav", "10.wav", "audio_2.mp3", "2.wav", "a.wav", "1.wav"])
                == ["1.wav", "2.wav", "audio_2.mp3", "10.wav", "a.wav", "b.wav"])
    }
}
