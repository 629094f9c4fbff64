import Basics
import Foundation
import NIOCore
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

    /// Two seconds of a tone: each frame has about as many bytes.
    private static func tone() throws -> Data { try #require(EncodedAudio.files["flac"]) }

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

    /// The end of each frame of a FLAC file: in bytes, and in samples.
    private func frameEnds(of file: Data) -> [(bytes: Int, samples: Int)] {
        let bytes = AudioBytes(file)
        let blockSize = bytes.unsigned(at: 8, size: 2) ?? 0
        let frames = (42..<file.count - 6).compactMap { place -> (start: Int, samples: Int)? in
            guard bytes.byte(at: place) == 0xFF else { return nil }
            return FLACAudio.frameEnd(at: place, of: bytes, blockSize: blockSize).map { (place, Int($0)) }
        }
        return zip(frames, frames.dropFirst().map(\.start) + [file.count]).map { ($1, $0.samples) }
    }

    @Test("a FLAC stream is decoded up to each Finalize, and no sample is lost or doubled between two")
    func flac() async throws {
        let file = try Self.tone()
        let ends = frameEnds(of: file)
        try #require(ends.count > 5 && ends.last?.samples == 32_000)
        // Within the metadata, within a frame, at its end, and within the header of the next.
        let end = ends[2].bytes
        for cut in [100, end - 1, end, end + 5] {
            let cuts = [0, cut, ends[4].bytes + 7, file.count]
            let found = try await frames(of: zip(cuts, cuts.dropFirst()).map { Data(file[$0..<$1]) }, .flac)
            #expect(found == cuts.dropFirst().map { cut in ends.last { $0.bytes <= cut }?.samples ?? 0 })
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
