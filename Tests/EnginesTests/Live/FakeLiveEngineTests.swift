import Basics
import Foundation
import NIOCore
import Testing

@testable import Engines

struct FakeLiveEngineTests {
    private func voice(_ seconds: Double) -> [Int16] {
        (0..<Int(seconds * 16_000)).map { Int16(9000 * sin(Double($0) * 0.1)) }
    }

    private func silence(_ seconds: Double) -> [Int16] { [Int16](repeating: 0, count: Int(seconds * 16_000)) }

    private func bytes(_ samples: [Int16]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for sample in samples { buffer.writeInteger(sample, endianness: .little) }
        return buffer
    }

    private func events(
        _ options: LiveOptions, _ audio: ByteBuffer, cutInto size: Int = .max
    ) async throws -> [LiveEvent] {
        let heard = LockedValue<[LiveEvent]>([])
        try await FakeLiveEngine().withSession(options) { event in
            heard.withLock { $0.append(event) }
        } _: { session in
            var rest = audio
            while let piece = rest.readSlice(length: min(size, rest.readableBytes)), piece.readableBytes > 0 {
                try await session.feed(piece)
            }
            try await session.close()
        }
        return heard.withLock { $0 }
    }

    private var options: LiveOptions {
        var options = LiveOptions()
        options.interimResults = true
        options.endpointing = .milliseconds(300)
        return options
    }

    @Test("the fake live engine gives the exact results of the documented example")
    func example() async throws {
        let audio = bytes(voice(1.2) + silence(0.6) + voice(1.2))
        let results = try await events(options, audio).compactMap { event -> [Double]? in
            guard case .result(let result) = event else { return nil }
            return [result.start, result.duration, Double(result.words.count), result.isFinal ? 1 : 0]
        }
        #expect(
            results == [
                [0, 0.5, 2, 0], [0, 1, 4, 0], [0, 1.5, 5, 1], [1.5, 1, 2, 0], [1.5, 1.5, 5, 0], [1.5, 1.5, 5, 1],
            ])
    }

    @Test(
        "the fake live engine gives the same events however the audio is split",
        arguments: [1, 3, 639, 640, 641, 10_000])
    func framing(size: Int) async throws {
        var options = options
        options.vadEvents = true
        options.utteranceEnd = .milliseconds(400)
        let audio = bytes(voice(1.2) + silence(0.6) + voice(0.7))
        let whole = try await events(options, audio)
        let pieces = try await events(options, audio, cutInto: size)
        #expect(pieces == whole)
    }

    @Test("the fake live engine finalizes speech after five seconds at the latest")
    func length() async throws {
        let finals = try await events(options, bytes(voice(6))).compactMap { event -> LiveResult? in
            guard case .result(let result) = event, result.isFinal else { return nil }
            return result
        }
        #expect(finals.map(\.duration) == [5, 1])
        #expect(finals.map(\.speechFinal) == [false, true])
    }

    @Test("a steady stream gives silence results without words, each interim result in a final one of its start")
    func silences() async throws {
        var options = options
        options.finalizesSteadily = true
        let results = try await events(options, bytes(silence(9.5))).compactMap { event -> [Double]? in
            guard case .result(let result) = event else { return nil }
            #expect(result.words.isEmpty && result.confidence == 0 && result.speechFinal == result.isFinal)
            return [result.start, result.duration, result.isFinal ? 1 : 0]
        }
        #expect(
            results == [
                [0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 4, 1], [4, 1, 0], [4, 2, 0], [4, 3, 0], [4, 4, 1], [8, 1, 0],
                [8, 1.5, 1],
            ])
    }

    @Test("a steady stream without endpointing finalizes its words before the utterance's end, and ends no utterance")
    func utterances() async throws {
        var options = options
        options.finalizesSteadily = true
        options.interimResults = false
        options.endpointing = nil
        options.utteranceEnd = .milliseconds(1000)
        let heard = try await events(options, bytes(voice(6) + silence(2)))
        let results = heard.compactMap { if case .result(let result) = $0 { result } else { nil } }
        #expect(results.map(\.duration) == [5, 2])
        #expect(results.map(\.speechFinal) == [false, false])
        #expect(heard.last == .utteranceEnd(channel: 0, lastWordEnd: 6))
    }
}
