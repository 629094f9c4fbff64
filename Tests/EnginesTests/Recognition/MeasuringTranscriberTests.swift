import Foundation
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct MeasuringTranscriberTests {
    private func speech(_ kind: ServedRecogniser.Kind, _ audio: Data) async throws -> RecognisedSpeech {
        let recogniser = try ServedRecogniser(kind, try await SpeechAPI(), audio: audio)
        let decoder = RecordingDecoder(
            concurrency: 1, temporary: recogniser.temporary, clock: recogniser.manual.clock, files: .singleton)
        let speech = try await MeasuringTranscriber(try recogniser.bare(), decoder: decoder)
            .transcribe(try recogniser.recording())
        #expect(recogniser.api.requests.count == 1, "the recogniser said words")
        try recogniser.expectNoFiles()
        return speech
    }

    @Test("a silent recording has no text, whatever the recogniser returns", arguments: ServedRecogniser.Kind.allCases)
    func silence(kind: ServedRecogniser.Kind) async throws {
        let silent = try await speech(kind, TestAudio.wav(seconds: 3, isSilent: true))
        #expect(silent.text.isEmpty)
        #expect(silent.words.isEmpty)
        #expect(silent.quality == 0)
        let spoken = try await speech(kind, TestAudio.wav(seconds: 3))
        #expect(spoken.text == SpeechAPI.text)
    }

    @Test("a recording that is no WAV is decoded to measure it")
    func decoded() async throws {
        let silent = try await speech(.openai, EncodedAudio.silence)
        #expect(silent.text.isEmpty)
        let tone = try #require(EncodedAudio.files["m4a"])
        let spoken = try await speech(.openai, tone)
        #expect(spoken.text == SpeechAPI.text)
        #expect(spoken.quality != nil)
    }
}
