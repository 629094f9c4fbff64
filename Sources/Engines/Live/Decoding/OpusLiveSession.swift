import Basics
import NIOCore
import ScribeDomain

/// Live session for bare Opus packets, one in each call of ``feed(_:)``. A packet that is broken costs its own sound
/// only.
struct OpusLiveSession: LiveSession {
    var base: any LiveSession
    let decoder: OpusDecoder
    var pace: DecodedRateLimiter
    let clock: WallClock
    let emit: @Sendable (LiveEvent) async throws -> Void
    /// Size of the packets so far.
    var fed = 0
    var hasSound = false

    mutating func feed(_ packet: ByteBuffer) async throws {
        fed += packet.readableBytes
        guard let samples = decoder.decode(packet) else { return }
        hasSound = true
        let pause = try pace.take(samples.readableBytes, of: fed)
        if pause > .zero { try await clock.sleep(for: pause, as: .pace) }
        try await emit(.decoded(samples))
        try await base.feed(samples)
    }

    mutating func expect(_ vocabulary: [String]) async throws { try await base.expect(vocabulary) }
    mutating func finalize() async throws { try await base.finalize() }

    mutating func close() async throws {
        guard hasSound || fed == 0 else { throw EngineFailure(.undecodableAudio, "no message is an Opus packet") }
        try await base.close()
    }
}
