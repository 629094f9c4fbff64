import Basics
import Foundation
import NIOCore
import ScribeDomain
import TestSupport
import Testing

@testable import Engines

struct DecodingLiveEngineTests {
    /// Emits the frames heard so far as the duration of an empty result, once for each finalize request.
    private struct Counting: LiveEngine {
        struct Session: LiveSession {
            let emit: @Sendable (LiveEvent) async throws -> Void
            var size = 0

            mutating func feed(_ audio: ByteBuffer) { size += audio.readableBytes }
            func expect(_ vocabulary: [String]) {}
            func finalize() async throws { try await tell(fromFinalize: true) }
            func close() async throws { try await tell(fromFinalize: false) }

            private func tell(fromFinalize: Bool) async throws {
                try await emit(
                    .result(
                        LiveResult(
                            channel: 0, start: 0, duration: Double(size / 2), words: [], isFinal: true,
                            speechFinal: true, fromFinalize: fromFinalize)))
            }
        }

        let name = "counting"

        func withSession(
            _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
            _ body: (inout any LiveSession) async throws -> Void
        ) async throws {
            var session: any LiveSession = Session(emit: emit)
            try await body(&session)
        }
    }

    private static let noise = EncodedAudio.encode(
        "noise.flac", ["-c:a", "flac"], of: "anoisesrc=d=3:r=16000:a=0.2:seed=1")

    /// Frames heard at each finalize request, and at the end.
    private func frames(of pieces: [Data], _ codec: StreamCodec) async throws -> [Int] {
        let engine = DecodingLiveEngine(Counting(), count: 1, idleTime: .seconds(600), clock: ManualClock().clock)
        let heard = LockedValue<[Int]>([])
        var options = LiveOptions()
        options.codec = codec
        try await engine.withSession(options) { event in
            if case .result(let result) = event { heard.withLock { $0.append(Int(result.duration)) } }
        } _: { session in
            for (place, piece) in pieces.enumerated() {
                // Smaller than a frame, so that frames and headers are cut everywhere.
                for start in stride(from: 0, to: piece.count, by: 700) {
                    try await session.feed(ByteBuffer(bytes: piece.dropFirst(start).prefix(700)))
                }
                if place < pieces.count - 1 { try await session.finalize() }
            }
            try await session.close()
        }
        return heard.withLock { $0 }
    }

    @Test(
        "a FLAC stream is decoded up to each Finalize, and no sample is lost or doubled between two", arguments: 0..<8)
    func flac(cut: Int) async throws {
        let file = Self.noise
        let cuts = [0, file.count / 3 + 97 * cut, file.count * 2 / 3 + 31 * cut, file.count]
        let pieces = zip(cuts, cuts.dropFirst()).map { Data(file[$0..<$1]) }
        let found = try await frames(of: pieces, .flac)
        #expect(found.count == 3)
        #expect(found.last == 48_000)
        // A frame is a tenth of a second, and noise fills its bytes evenly.
        for (frames, cut) in zip(found, cuts.dropFirst()) {
            #expect(abs(frames - 48_000 * cut / file.count) <= 2 * 1728)
        }
    }

    @Test("a FLAC stream that is cut at the end of a frame, or within the header of the next, loses nothing")
    func flacFrames() async throws {
        let file = EncodedAudio.encode("tone.flac", ["-c:a", "flac"])
        let bytes = AudioBytes(file)
        let starts = (42..<file.count - 16).filter {
            bytes.byte(at: $0) == 0xFF && FLACAudio.frameEnd(at: $0, of: bytes, blockSize: 0) != nil
        }
        let start = try #require(starts.dropFirst(4).first)
        for cut in [start - 1, start, start + 1, start + 5, start + 20] {
            #expect(try await frames(of: [file[..<cut], file[cut...]].map { Data($0) }, .flac).last == 32_000)
        }
    }

    @Test("Opus packets are decoded one for each message, and a broken one costs its own sound only")
    func opus() async throws {
        let broken = Data([0xFF, 0xFF])
        let silence = Data([0x08])
        // A packet without frames stands for 20 ms of silence.
        #expect(try await frames(of: [silence, silence, broken, silence], .opus) == [320, 640, 640, 960])
        await #expect(throws: EngineFailure.self) { try await frames(of: [broken, broken], .opus) }
    }
}
