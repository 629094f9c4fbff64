import Basics
import Foundation
import NIOCore
import NIOPosix
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct TranscribingLiveEngineTests {
    /// Says how long each recording is, and fails as often as it is told.
    private final class Measuring: Transcriber {
        let name = "measuring"
        let failures: LockedValue<[EngineFailure]>

        init(_ failures: [EngineFailure] = []) { self.failures = LockedValue(failures) }

        func transcribe(_ recording: Recording) async throws -> RecognisedSpeech {
            if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw failure }
            let duration = try await recording.audio.read(on: .singleton) { try AudioFormat(reading: $0).duration }
            return RecognisedSpeech(text: "Heard \(Int((duration * 1000).rounded())).")
        }
    }

    private func audio(_ parts: (voiced: Bool, seconds: Double)...) -> ByteBuffer {
        var buffer = ByteBuffer()
        for part in parts {
            for place in 0..<Int(part.seconds * 16_000) {
                let sample = part.voiced ? Int16(9000 * sin(Double(place) * 0.1)) : 0
                buffer.writeInteger(sample, endianness: .little)
            }
        }
        return buffer
    }

    private func events(
        _ transcriber: any Transcriber, _ options: LiveOptions, _ audio: ByteBuffer, cutInto size: Int = 6400,
        finalizing: Bool = false
    ) async throws -> [LiveEvent] {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let engine = TranscribingLiveEngine(
            transcriber,
            temporary: TemporaryFiles(folder: folder, identifiers: .counting(), files: .singleton), files: .singleton)
        let heard = LockedValue<[LiveEvent]>([])
        try await engine.withSession(options) { event in
            heard.withLock { $0.append(event) }
        } _: { session in
            var rest = audio
            while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
                try await session.feed(piece)
            }
            if finalizing { try await session.finalize() }
            try await session.close()
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(left.isEmpty, "nothing of the speech stays")
        return heard.withLock { $0 }
    }

    private func temporaryFolder() throws -> String {
        let path = NSTemporaryDirectory() + "live-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func written(_ result: LiveResult) -> String {
        result.words.map { $0.punctuated ?? $0.text }.joined(separator: " ")
    }

    private func results(_ events: [LiveEvent]) -> [LiveResult] {
        events.compactMap { if case .result(let result) = $0 { result } else { nil } }
    }

    @Test(
        "the live engine recognises each stretch of speech alone, and places its words within it",
        arguments: [641, 100_000])
    func stretches(size: Int) async throws {
        var options = LiveOptions()
        options.endpointing = .milliseconds(300)
        options.punctuate = true
        let speech = audio((false, 1), (true, 1.2), (false, 0.6), (true, 1), (false, 0.1))
        let heard = results(try await events(Measuring(), options, speech, cutInto: size))
        #expect(heard.map(written) == ["Heard 1700.", "Heard 1300."])
        #expect(heard.map(\.start) == [0, 2.5])
        #expect(heard.map(\.duration) == [2.5, 1.4])
        #expect(heard.map(\.speechFinal) == [true, true])
        #expect(heard[0].words.map(\.text) == ["heard", "1700"])
        #expect(heard[0].words.map(\.start) == [0.8, 1.65])
        for result in heard {
            #expect(result.words.allSatisfy { $0.start >= result.start && $0.end <= result.start + result.duration })
        }
    }

    @Test("the live engine sends speech start and utterance end on request, in order")
    func speech() async throws {
        var options = LiveOptions()
        options.endpointing = .milliseconds(300)
        options.vadEvents = true
        options.utteranceEnd = .milliseconds(1000)
        let heard = try await events(Measuring(), options, audio((false, 0.5), (true, 1), (false, 2)))
        guard heard.count == 3, case .speechStarted(0, at: 0.5) = heard[0], case .result = heard[1],
            case .utteranceEnd(0, let end) = heard[2]
        else {
            Issue.record("\(heard)")
            return
        }
        #expect(end == 1.8)
    }

    @Test("the live engine cuts long speech without a pause, and loses none of it")
    func long() async throws {
        let heard = results(try await events(Measuring(), LiveOptions(), audio((true, 60))))
        #expect(heard.dropLast().allSatisfy { (12...25).contains($0.duration) })
        #expect(heard.total(\.duration).inThousandths == 60)
        #expect(heard.map(written) == heard.map { "heard \(Int(($0.duration * 1000).rounded()))" })
        #expect(heard.map(\.speechFinal) == [false, false, true])
    }

    @Test("a steady stream gives silence results, which no recogniser is asked about")
    func silences() async throws {
        var options = LiveOptions()
        options.finalizesSteadily = true
        options.interimResults = true
        let speech = audio((false, 4.5), (true, 1), (false, 5))
        let heard = results(try await events(Measuring(), options, speech)).filter(\.isFinal)
        #expect(heard.map(\.start) == [0, 4, 5.8])
        #expect(heard.map(\.duration) == [4, 1.8, 4])
        #expect(heard.map(written) == ["", "heard 1500", ""])
        #expect(heard.map(\.speechFinal) == [true, true, true])
    }

    @Test("a steady stream without endpointing is cut in its quietest moment, and its words are final before the pause")
    func steady() async throws {
        var options = LiveOptions()
        options.finalizesSteadily = true
        options.endpointing = nil
        options.utteranceEnd = .milliseconds(1000)
        let heard = try await events(Measuring(), options, audio((true, 4), (false, 0.02), (true, 6), (false, 1.5)))
        let found = results(heard)
        #expect(found.map(\.speechFinal) == [false, false, false])
        #expect(found[0].duration == 4.02)
        #expect((3...5).contains(found[1].duration))
        #expect(found.total(\.duration).inThousandths == 11.02)
        #expect(found.map(written) == found.map { "heard \(Int(($0.duration * 1000).rounded()))" })
        guard case .utteranceEnd = heard.last else {
            Issue.record("\(heard)")
            return
        }
    }

    @Test("the live engine answers Finalize exactly once, with or without speech")
    func finalize() async throws {
        for speech in [audio((true, 0.5)), audio((false, 0.5)), ByteBuffer()] {
            let heard = results(try await events(Measuring(), LiveOptions(), speech, finalizing: true))
            #expect(heard.map(\.fromFinalize) == [true])
        }
    }

    @Test("the live engine repeats a failed recognition, and reports a failure that repeats")
    func failures() async throws {
        let hiccup = EngineFailure(.transcriptionFailed, "busy", isRetryable: true)
        let heard = results(try await events(Measuring([hiccup, hiccup]), LiveOptions(), audio((true, 1))))
        #expect(heard.map(written) == ["heard 1000"])
        await #expect(throws: hiccup) {
            try await events(Measuring([hiccup, hiccup, hiccup]), LiveOptions(), audio((true, 1)))
        }
        // Nobody spoke in it: that is no failure.
        let nothing = EngineFailure(.noSpeech, "no words", origin: .input)
        let silent = results(try await events(Measuring([nothing]), LiveOptions(), audio((true, 1))))
        #expect(silent.map(\.words.count) == [0])
    }
}

struct UnsettledAudioTests {
    private func bytes(_ values: Range<UInt8>) -> ByteBuffer { ByteBuffer(bytes: Array(values)) }

    private func rest(_ audio: UnfinalizedAudio) -> [[UInt8]?] {
        audio.entries.map { if case .audio(let bytes) = $0 { Array(bytes.readableBytesView) } else { nil } }
    }

    @Test("finalized audio is dropped to the frame, however the audio was split")
    func settle() {
        var audio = UnfinalizedAudio(frameSize: 2, limit: 100)
        audio.append(bytes(0..<3))
        audio.append(bytes(3..<8))
        audio.settle(upTo: 2)
        #expect(rest(audio) == [[4, 5, 6, 7]])
        audio.settle(upTo: 1)
        #expect(audio.start == 2)
        audio.settle(upTo: 99)
        #expect(audio.start == 4)
        #expect(rest(audio) == [])
    }

    @Test("a Finalize keeps its place in the audio until it is answered or passed")
    func finalize() {
        var audio = UnfinalizedAudio(frameSize: 2, limit: 100)
        audio.append(bytes(0..<4))
        audio.appendFinalize()
        audio.append(bytes(4..<8))
        audio.settle(upTo: 1)
        #expect(rest(audio) == [[2, 3], nil, [4, 5, 6, 7]])
        var answered = audio
        answered.finalized()
        #expect(rest(answered) == [[2, 3], [4, 5, 6, 7]])
        audio.settle(upTo: 3)
        #expect(rest(audio) == [[6, 7]])
    }

    @Test("unfinalized audio never exceeds its limit")
    func limit() {
        var audio = UnfinalizedAudio(frameSize: 2, limit: 2)
        for value in UInt8(0)..<10 { audio.append(bytes(value..<value + 1)) }
        #expect(audio.start == 3)
        #expect(rest(audio).compactMap(\.self).flatMap(\.self) == [6, 7, 8, 9])
    }
}
