import Crypto
import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct FakeTranscriberTests {
    let folder: TemporaryFolder
    let manual = ManualClock()
    let set = FixtureSet(
        defaultPassages: [
            "en": [
                "Hello there. Please sit. I have a fever.", "How long? For two days.", "Take rest. Come back soon.",
            ],
            "hi": ["नमस्ते जी।"],
        ],
        fixtures: [
            Fixture(name: "no-speech", text: ""),
            Fixture(name: "broken", failure: .undecodableAudio),
            Fixture(name: "doubtful", warning: .lowConfidence),
            Fixture(name: "slow", delay: 20),
            Fixture(name: "two", passages: ["first", "second"]),
        ]
    )

    init() throws { folder = try TemporaryFolder() }

    func transcribe(
        _ audio: Data = TestAudio.wav(seconds: 10), ordinal: Int = 1, language: String? = nil, fixture: String? = nil,
        from fixtures: FixtureSet? = nil
    ) async throws -> RecognisedSpeech {
        let path = try folder.write(audio, as: "audio-\(UUID())")
        let fixtures = fixtures ?? set
        var fake = FakeTranscriber(fixtures: fixtures, clock: manual.clock, files: .singleton)
        if let fixture { fake = fake.withFixture(fixtures[fixture]) }
        return try await fake.transcribe(
            Recording(
                LocalAudio(path: path), ordinal: ordinal, times: ChunkTimes(start: 10, end: 20),
                timesBefore: ChunkTimes(start: 0, end: 10.5), languages: language.map { [$0] } ?? []))
    }

    @Test("the fake transcriber gives chunk n the words of passage n, after the end of the passage before")
    func passages() async throws {
        #expect(try await transcribe(ordinal: 1).text.hasPrefix("Hello there. Please sit."))
        #expect(try await transcribe(TestAudio.wav(seconds: 2), ordinal: 2).text == "a fever. How long? For two days.")
    }

    @Test("the fake transcriber gives silence no words, and a warning that names a fixture")
    func silence() async throws {
        let silent = TestAudio.wav(seconds: 65, isSilent: true)
        let speech = try await transcribe(silent)
        #expect(speech.text.isEmpty)
        #expect(speech.warnings.map(\.code) == [.noSpeech])
        #expect(speech.warnings.first?.message.contains("use fixture:follow-up") == true)
        // A second of it is as silent as a minute, and what has one loud second is not.
        #expect(try await transcribe(silent.prefix(44 + 16_000)).text.isEmpty)
        #expect(
            try await transcribe(silent.dropLast(16_000) + TestAudio.wav(seconds: 1).dropFirst(44)).text.isEmpty
                == false)
    }

    @Test("a fixture's text is given for silence too, and audio other than WAV counts as speech")
    func speechOfSilence() async throws {
        let silent = TestAudio.wav(seconds: 10, isSilent: true)
        #expect(try await transcribe(silent, fixture: "two").text.contains("first"))
        #expect(try await transcribe(TestAudio.mp3(seconds: 20)).text.isEmpty == false)
    }

    @Test("the fake transcriber gives the same text for the same input")
    func deterministic() async throws {
        #expect(try await transcribe(ordinal: 2) == transcribe(ordinal: 2))
    }

    @Test(
        "the fake transcriber's text is as long as the audio, and its last sentence never changes",
        arguments: [0.5, 1, 2, 3, 4])
    func length(seconds: Double) async throws {
        let text = try await transcribe(TestAudio.wav(seconds: seconds)).text
        #expect(text.hasSuffix("I have a fever."))
        #expect(text.split(separator: " ").count <= max(4, Int(seconds * FakeSpeech.wordsPerSecond)))
    }

    @Test(
        "the fake transcriber's chunk that is longer than its passage takes no words of the next passage",
        arguments: [10.0, 20, 25])
    func longChunk(seconds: Double) async throws {
        #expect(
            try await transcribe(TestAudio.wav(seconds: seconds)).text == "Hello there. Please sit. I have a fever.")
    }

    @Test("the fake transcriber continues with the next passages in audio longer than a chunk")
    func longAudio() async throws {
        let words = try await transcribe(TestAudio.wav(seconds: 60)).text.split(separator: " ")
        #expect((130...150).contains(words.count))
    }

    @Test("the fake transcriber's overlapping chunks are stitched to a text without repetition")
    func stitching() async throws {
        var chunks: [ChunkOutcome] = []
        for ordinal in 1...3 {
            let speech = try await transcribe(TestAudio.wav(seconds: 2), ordinal: ordinal)
            let start = Double(ordinal) * 2
            chunks.append(
                ChunkOutcome(
                    file: "\(ordinal).wav", times: ChunkTimes(start: start - 0.5, end: start + 2),
                    result: .success(speech)
                )
            )
        }
        #expect(
            Transcript(stitching: chunks).text
                == "I have a fever.\nHow long? For two days.\nTake rest. Come back soon."
        )
    }

    @Test("the fake transcriber chooses the text by language, and English for unknown languages")
    func languages() async throws {
        #expect(try await transcribe(language: "hi").text.contains("नमस्ते"))
        #expect(try await transcribe(language: "hi-IN").text.contains("नमस्ते"))
        #expect(try await transcribe(language: "ta").text.contains("fever"))
    }

    @Test("the fake transcriber chooses a fixture by name")
    func byName() async throws {
        #expect(try await transcribe(fixture: "no-speech").text.isEmpty)
        #expect(try await transcribe(ordinal: 1, fixture: "two").text == "first")
        #expect(try await transcribe(ordinal: 7, fixture: "two").text == "second")
        #expect(try await transcribe(fixture: "doubtful").warnings.map(\.code) == [.lowConfidence])
        await #expect(throws: EngineFailure(.undecodableAudio, "the fixture says so")) {
            try await transcribe(fixture: "broken")
        }
    }

    @Test("an unknown fixture name is a failure with a code of its own")
    func unknownName() async {
        await #expect { try await transcribe(fixture: "nope") } throws: {
            ($0 as? EngineFailure)?.code == .unknownFixture
        }
    }

    @Test("the fake transcriber chooses a fixture by the SHA-256 of the audio")
    func byHash() async throws {
        let audio = TestAudio.wav(seconds: 1, tone: 3)
        let hash = SHA256.hash(data: audio).map { String(format: "%02x", $0) }.joined()
        let fixtures = set.overridden(
            by: FixtureSet(defaultPassages: [:], fixtures: [Fixture(sha256: hash, text: "mine")]))
        #expect(try await transcribe(audio, from: fixtures).text == "mine")
        #expect(try await transcribe(TestAudio.wav(seconds: 1), from: fixtures).text != "mine")
    }

    @Test("the fake transcriber fails for a file that is no audio")
    func noAudio() async {
        await #expect { try await transcribe(Data(repeating: 1, count: 200)) } throws: {
            ($0 as? EngineFailure)?.code == .undecodableAudio
        }
    }
}
