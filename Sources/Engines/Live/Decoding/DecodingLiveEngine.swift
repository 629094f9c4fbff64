package import Basics
import Foundation
import NIOCore
import ScribeDomain
import Subprocess

/// Live engine for encoded streams: ffmpeg or libopus decodes them for an engine that takes samples only.
package struct DecodingLiveEngine: LiveEngine {
    private let base: any LiveEngine
    private let places: DecoderSlots
    private let clock: WallClock

    /// Most bytes that may wait, of encoded audio and of samples each.
    private static let maxWaiting = 1 << 20
    /// Most bytes of a stream in which no sound is found.
    private static let maxWithoutSound = 16 << 10
    /// Time without samples after which ffmpeg has decoded all its input, and the maximum of such times to wait.
    private static let quietTime: Duration = .milliseconds(250)
    private static let maxQuietTimes = 8

    /// Wraps a live engine.
    /// - Parameters:
    ///   - count: most streams that are decoded at the same time.
    ///   - idleTime: silence after which a stream ends if another stream needs its place.
    package init(_ base: any LiveEngine, count: Int, idleTime: Duration, clock: WallClock) {
        self.base = base
        self.clock = clock
        places = DecoderSlots(count: count, idleTime: idleTime, clock: clock)
    }

    package var name: String { base.name }
    package var condition: EngineCondition { base.condition }

    package func withSession(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws {
        guard let codec = options.codec else { return try await base.withSession(options, emit: emit, body) }
        if codec == .opus { return try await withPackets(options, emit: emit, body) }
        let (evictions, eviction) = AsyncStream.makeStream(of: Void.self)
        let place = try places.take(options.tenant) { eviction.yield() }
        let encoded = BoundedQueue<DecodingLiveSession.Encoded>(limit: Self.maxWaiting)
        let decoded = BoundedQueue<DecodingLiveSession.Input>(limit: Self.maxWaiting)
        try await withThrowingTaskGroup(of: Void.self) { group in
            /// Runs one part of the session; its failure fails the whole session.
            @Sendable func part(_ work: @Sendable () async throws -> Void) async throws {
                do {
                    try await work()
                } catch {
                    // The failure is emitted first: the other parts then fail because their
                    // queues end, which would hide the cause.
                    if let failure = error as? EngineFailure { try? await emit(.failed(failure)) }
                    await encoded.finish(throwing: error)
                    await decoded.finish(throwing: error)
                    throw error
                }
            }
            group.addTask {
                try await part { try await decode(encoded, codec, options, into: decoded) }
            }
            group.addTask {
                try await part {
                    for await _ in evictions {
                        throw EngineFailure(.transcriptionFailed, "the stream was fed nothing", origin: .idleness)
                    }
                }
            }
            group.addTask { [base] in
                try await part {
                    var samples = options
                    samples.codec = nil
                    try await base.withSession(samples, emit: emit) { session in
                        while let input = await decoded.next() {
                            switch input {
                            case .samples(let audio):
                                try await emit(.decoded(audio))
                                try await session.feed(audio)
                            case .finalize: try await session.finalize()
                            case .vocabulary(let words): try await session.expect(words)
                            }
                        }
                        try Task.checkCancellation()
                        try await session.close()
                    }
                }
            }
            var session: any LiveSession = DecodingLiveSession(encoded: encoded, decoded: decoded, place: place)
            do {
                try await body(&session)
            } catch {
                group.cancelAll()
                await encoded.finish(throwing: error)
                await decoded.finish(throwing: error)
                throw error
            }
            eviction.finish()
            await encoded.finish()
            try await group.waitForAll()
        }
    }

    /// Decodes the stream to its end.
    private func decode(
        _ encoded: BoundedQueue<DecodingLiveSession.Encoded>, _ codec: StreamCodec, _ options: LiveOptions,
        into decoded: BoundedQueue<DecodingLiveSession.Input>
    ) async throws {
        guard let demuxer = codec.demuxer else { return }
        /// Size of the encoded bytes that ffmpeg got so far.
        let fed = LockedValue(0)
        let output = LockedValue(Output())
        let cutter = LockedValue(codec == .flac ? FLACStream() : nil)
        var pace = DecodedRateLimiter(options)
        var rest = Data()
        while let input = await encoded.next() {
            guard case .bytes(let bytes) = input else {
                try await decoded.add(.finalize)
                continue
            }
            let first = rest + bytes.readableBytesView
            cutter.withLock { $0?.add(Data(bytes.readableBytesView)) }
            fed.withLock { $0 += bytes.readableBytes }
            /// Whether the stream was cut, and goes on with another process.
            let isCut = LockedValue(false)
            let result = try await Subprocess.run(
                FFmpeg.streaming(demuxer, sampleRate: options.sampleRate, channels: options.channels),
                input: .inputWriter, output: .sequence, error: .discarded
            ) { execution in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        let writer = execution.standardInputWriter
                        func write(_ bytes: some Collection<UInt8>) async -> Bool {
                            // A failed write means that ffmpeg has ended; its exit status gives the reason.
                            return (try? await writer.write(Array(bytes))) != nil
                        }
                        var isOpen = await write(first)
                        while let input = await encoded.next() {
                            switch input {
                            case .bytes(let bytes) where isOpen:
                                cutter.withLock { $0?.add(Data(bytes.readableBytesView)) }
                                fed.withLock { $0 += bytes.readableBytes }
                                isOpen = await write(bytes.readableBytesView)
                            case .bytes: break
                            case .finalize where isOpen && cutter.withLock { $0?.canCut ?? false }:
                                isCut.withLock { $0 = true }
                                try? await writer.finish()
                                return
                            case .finalize:
                                let isDecoded = cutter.withLock { $0?.isPlain ?? false }
                                if isOpen, !isDecoded { try await awaitQuiet(output) }
                                try await decoded.add(.finalize)
                            }
                        }
                        try? await writer.finish()
                    }
                    for try await piece in execution.standardOutput {
                        output.withLock { $0.begun += 1 }
                        let samples = piece.withUnsafeBytes { ByteBuffer(bytes: $0) }
                        try await add(samples, to: decoded, &pace, of: fed.withLock { $0 })
                        output.withLock { $0.added += 1 }
                    }
                    // ffmpeg has written everything; further input is discarded.
                    if !isCut.withLock({ $0 }) { await encoded.finish() }
                    try await group.waitForAll()
                }
            }
            if isCut.withLock({ $0 }) {
                rest = cutter.withLock { $0?.cut() } ?? Data()
                try await decoded.add(.finalize)
                continue
            }
            // ffmpeg exits with 0, and writes no sample, for an MPEG-4 recording with its header at the end.
            let most = result.terminationStatus.isSuccess ? Self.maxWithoutSound : 0
            guard output.withLock({ $0.begun > 0 }) || fed.withLock({ $0 }) <= most else {
                throw EngineFailure(.undecodableAudio, "the stream is no \(codec.rawValue)")
            }
        }
        guard output.withLock({ $0.begun > 0 }) || fed.withLock({ $0 }) <= Self.maxWithoutSound else {
            throw EngineFailure(.undecodableAudio, "the stream is no \(codec.rawValue)")
        }
        await decoded.finish()
    }

    /// Decodes Opus packets where they come, at next to no cost: their sound is emitted before the call returns.
    private func withPackets(
        _ options: LiveOptions, emit: @escaping @Sendable (LiveEvent) async throws -> Void,
        _ body: (inout any LiveSession) async throws -> Void
    ) async throws {
        guard let decoder = OpusDecoder(sampleRate: options.sampleRate, channels: options.channels) else {
            throw EngineFailure(.transcriptionFailed, "Opus cannot be decoded")
        }
        var samples = options
        samples.codec = nil
        try await base.withSession(samples, emit: emit) { session in
            var packets: any LiveSession = OpusLiveSession(
                base: session, decoder: decoder, pace: DecodedRateLimiter(options), clock: clock, emit: emit)
            try await body(&packets)
        }
    }

    private func add(
        _ samples: ByteBuffer, to decoded: BoundedQueue<DecodingLiveSession.Input>, _ pace: inout DecodedRateLimiter,
        of fed: Int
    ) async throws {
        let pause = try pace.take(samples.readableBytes, of: fed)
        if pause > .zero { try await clock.sleep(for: pause, as: .pace) }
        try await decoded.add(.samples(samples), weight: samples.readableBytes)
    }

    /// Pieces of samples that ffmpeg has written, and how many of them are in the queue.
    private struct Output {
        var begun = 0
        var added = 0
    }

    /// Waits until ffmpeg has written the samples of its input. Nothing else tells when.
    private func awaitQuiet(_ output: LockedValue<Output>) async throws {
        var before = 0
        for _ in 0..<Self.maxQuietTimes {
            let now = output.withLock { $0 }
            if now.begun > 0, now.begun == before, now.added == before { return }
            before = now.begun
            try await clock.sleep(for: Self.quietTime, as: .pace)
        }
    }
}

private struct DecodingLiveSession: LiveSession {
    enum Input: Sendable {
        case samples(ByteBuffer)
        case finalize
        case vocabulary([String])
    }

    enum Encoded: Sendable {
        case bytes(ByteBuffer)
        case finalize
    }

    let encoded: BoundedQueue<Encoded>
    let decoded: BoundedQueue<Input>
    let place: DecoderSlot

    func feed(_ audio: ByteBuffer) async throws {
        do {
            try await place.feeding { try await encoded.add(.bytes(audio), weight: audio.readableBytes) }
        } catch is CancellationError {
            // The decoder accepts no more input: bytes after the end of a recording are dropped.
            try Task.checkCancellation()
        }
    }
    func expect(_ vocabulary: [String]) async throws { try await decoded.add(.vocabulary(vocabulary)) }
    /// Queues the finalize behind the audio that is still being decoded.
    func finalize() async throws {
        do {
            try await encoded.add(.finalize)
        } catch is CancellationError {
            try Task.checkCancellation()
            try await decoded.add(.finalize)
        }
    }
    func close() async throws { await encoded.finish() }
}
