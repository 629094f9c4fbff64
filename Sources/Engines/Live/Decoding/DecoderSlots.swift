import Basics
import Foundation
import ScribeDomain

/// Limits how many live streams ffmpeg decodes at the same time. A decoder takes about 40 MB. A tenant with many
/// decoders leaves some free for others.
final class DecoderSlots: Sendable {
    private struct Holder {
        let tenant: String
        /// Time of the stream's last audio; nil while audio is being fed.
        var lastFed: Date?
        let onEviction: @Sendable () -> Void
    }

    private struct State {
        var holders: [Int: Holder] = [:]
        var next = 0
    }

    private let count: Int
    /// Number of places guaranteed to a tenant, and number that a tenant with more must leave free for others.
    private let share: Int
    private let idleTime: TimeInterval
    private let clock: WallClock
    private let state = LockedValue(State())

    /// Creates the places.
    /// - Parameters:
    ///   - count: number of places.
    ///   - idleTime: silence of a stream after which a new stream may take its place.
    init(count: Int, idleTime: Duration, clock: WallClock) {
        self.count = count
        share = min(8, max(1, count / 4))
        self.idleTime = idleTime / .seconds(1)
        self.clock = clock
    }

    /// Takes a place for a tenant's stream.
    /// - Parameter onEviction: called if another stream takes this place while its own stream is idle.
    /// - Throws: ``EngineFailure`` if no place is free.
    func take(_ tenant: String, onEviction: @escaping @Sendable () -> Void) throws(EngineFailure) -> DecoderSlot {
        let now = clock.now
        let (number, evicted) = state.withLock { state -> (Int?, Holder?) in
            var evicted: Holder?
            if !hasRoom(for: tenant, in: state) {
                let idle = state.holders
                    .filter { now.timeIntervalSince($0.value.lastFed ?? now) >= idleTime }
                    .sorted { ($0.value.lastFed ?? now, $0.key) < ($1.value.lastFed ?? now, $1.key) }
                let found = idle.first { candidate in
                    var without = state
                    without.holders[candidate.key] = nil
                    return hasRoom(for: tenant, in: without)
                }
                guard let found else { return (nil, nil) }
                evicted = state.holders.removeValue(forKey: found.key)
            }
            state.next += 1
            state.holders[state.next] = Holder(tenant: tenant, lastFed: now, onEviction: onEviction)
            return (state.next, evicted)
        }
        evicted?.onEviction()
        guard let number else {
            throw EngineFailure(
                .transcriptionFailed, "no more encoded streams can be decoded at once", isRetryable: true,
                origin: .refusal)
        }
        return DecoderSlot(number, of: self)
    }

    private func hasRoom(for tenant: String, in state: State) -> Bool {
        let free = count - state.holders.count
        let own = state.holders.values.count { $0.tenant == tenant }
        return free > (own < share ? 0 : share)
    }

    fileprivate func setLastFed(_ time: Date?, _ number: Int) {
        state.withLock { $0.holders[number]?.lastFed = time }
    }

    fileprivate func giveBack(_ number: Int) { state.withLock { $0.holders[number] = nil } }

    fileprivate var now: Date { clock.now }
}

/// Place of one stream; deallocation frees the place.
final class DecoderSlot: Sendable {
    private let number: Int
    private let places: DecoderSlots

    fileprivate init(_ number: Int, of places: DecoderSlots) {
        self.number = number
        self.places = places
    }

    deinit { places.giveBack(number) }

    /// Feeds the stream, which does not count as idle meanwhile.
    func feeding(_ feed: () async throws -> Void) async rethrows {
        places.setLastFed(nil, number)
        defer { places.setLastFed(places.now, number) }
        try await feed()
    }
}
