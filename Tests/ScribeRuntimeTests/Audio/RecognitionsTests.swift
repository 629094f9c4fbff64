import Basics
import Engines
import Foundation
import NIOCore
import RuntimeTestSupport
import ScribeDomain
import TestSupport
import Testing

@testable import ScribeRuntime
@testable import ScribeStore

struct RecognitionsTests {
    /// Thrown by a sender that disconnects.
    private struct Gone: Error {}

    /// 8,000 samples in a second.
    private static let samples = WaveHeader(.signed16, channels: 1, sampleRate: 8000)

    /// What is sent, piece by piece.
    private func body(_ pieces: Data..., failing error: (any Error)? = nil) -> AsyncThrowingStream<
        ByteBuffer, any Error
    > {
        AsyncThrowingStream { continuation in
            for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
            continuation.finish(throwing: error)
        }
    }

    /// A second of silence, and a second in which somebody speaks.
    private var halfSpoken: Data {
        var data = Data(count: 16_000)
        // 10,000 and -10,000 in turn, little-endian.
        let wave: [UInt8] = [0x10, 0x27, 0xF0, 0xD8]
        for _ in 0..<4000 { data.append(contentsOf: wave) }
        return data
    }

    @Test("a posted recording is transcribed and not kept")
    func heard() async throws {
        let fixture = try UseCaseFixture()
        let wav = TestAudio.wav(seconds: 2)
        let hearing = try await fixture.recognitions.recognise(
            body(wav.prefix(1000), wav.dropFirst(1000)), languages: [], for: fixture.owner)
        #expect(hearing.channels[0].speech.text == "hello there")
        #expect(hearing.duration == 2)
        #expect(try fixture.files().isEmpty)
        #expect(fixture.uploaded.keys.withLock { $0 }.isEmpty)
    }

    @Test("raw samples get a WAV header for recognition, and their digest is that of the sent bytes")
    func rawSamples() async throws {
        let fixture = try UseCaseFixture()
        let hearing = try await fixture.recognitions.recognise(
            body(Data(count: 7000), Data(), Data(count: 9000)), samples: { Self.samples }, languages: [],
            for: fixture.owner)
        #expect(hearing.duration == 1)
        // head -c 16000 /dev/zero | sha256sum
        #expect(Hex.encode(hearing.sha256) == "f85f2c34eb2843d2aa5951ee6e8e76985655b2e3ae2cbdd76bdfd654ecf19997")
    }

    @Test("a posted WAV gets no second header even if raw samples were announced")
    func announcedSamples() async throws {
        let fixture = try UseCaseFixture()
        let hearing = try await fixture.recognitions.recognise(
            body(TestAudio.wav(seconds: 2, rate: 16_000)), samples: { Self.samples }, languages: [], for: fixture.owner)
        #expect(hearing.duration == 2)
    }

    @Test("recognised words without times are placed in the detected speech")
    func spreadWords() async throws {
        let fixture = try UseCaseFixture(hearing: .text("one two three four"))
        let hearing = try await fixture.recognitions.recognise(
            body(halfSpoken), samples: { Self.samples }, languages: [], for: fixture.owner)
        #expect(hearing.channels[0].words.map(\.text) == ["one", "two", "three", "four"])
        #expect(hearing.channels[0].words.allSatisfy { (0.9...2.1).contains($0.start) && $0.end <= 2.1 })
        #expect(hearing.channels[0].speech.words.isEmpty, "the recogniser told none")
    }

    @Test(
        "an invalid posted recording is refused with its reason and not kept",
        arguments: [
            (Data(), EngineFailure(.emptyAudio, "no bytes")),
            (Data(count: 200), EngineFailure(.undecodableAudio, "no known container")),
            (TestAudio.wav(seconds: 0.05), EngineFailure(.audioTooShort, "shorter than 0.1 s")),
        ])
    func noRecording(content: Data, failure: EngineFailure) async throws {
        let fixture = try UseCaseFixture()
        await #expect(throws: failure) {
            try await fixture.recognitions.recognise(body(content), languages: [], for: fixture.owner)
        }
        #expect(try fixture.files().isEmpty)
    }

    @Test("a recogniser's failure on a posted recording is thrown and counted once")
    func failure() async throws {
        let failure = EngineFailure(.transcriptionFailed, "no answer", isRetryable: true)
        let fixture = try UseCaseFixture(hearing: .failure(failure))
        await #expect(throws: failure) {
            try await fixture.recognitions.recognise(
                body(TestAudio.wav(seconds: 1)), languages: [], for: fixture.owner)
        }
        let counted = #"scribe_chunks_total{transcriber="scripted",outcome="transcription_failed"} 1"#
        #expect(fixture.metrics.text(readings: []).contains(counted))
        #expect(try fixture.files().isEmpty)
    }

    @Test("a posted recording that breaks off is not transcribed and leaves no file")
    func brokenOff() async throws {
        let fixture = try UseCaseFixture()
        await #expect(throws: Gone.self) {
            try await fixture.recognitions.recognise(
                body(Data(count: 400_000), failing: Gone()), samples: { Self.samples }, languages: [],
                for: fixture.owner)
        }
        #expect(!fixture.metrics.text(readings: []).contains("scribe_chunks_total{"))
        #expect(try fixture.files().isEmpty)
    }

    @Test("a posted recording whose announced size is too large is refused before it is received")
    func tooLarge() async throws {
        let fixture = try UseCaseFixture()
        await #expect(throws: ScribeError.tooLarge(limit: Limits.recording)) {
            try await fixture.recognitions.recognise(
                body(failing: Gone()), size: Limits.recording + 1, languages: [], for: fixture.owner)
        }
    }

    @Test("a posted recording counts towards its business's storage only while it is received")
    func storage() async throws {
        var quotas = Quotas()
        quotas.storedBytes = 20_000
        let fixture = try UseCaseFixture(quotas: quotas)
        for seconds in [2.0, 1.0, 1.0] {
            let recording = body(TestAudio.wav(seconds: seconds))
            let hearing = Task {
                try await fixture.recognitions.recognise(recording, languages: [], for: fixture.owner)
                    .channels[0].speech.text
            }
            if seconds > 1 {
                await #expect(throws: ScribeError.storageQuotaExceeded) { try await hearing.value }
            } else {
                #expect(try await hearing.value == "hello there")
            }
        }
        await #expect(throws: ScribeError.storageQuotaExceeded) {
            try await fixture.recognitions.recognise(
                body(failing: Gone()), size: 20_001, languages: [], for: fixture.owner)
        }
        #expect(try fixture.files().isEmpty)
    }
}
