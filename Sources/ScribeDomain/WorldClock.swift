package import Foundation

/// The time of a world: what the domain decides by. It runs with the machine's, at a distance that can be changed.
///
/// Rows and answers have its times, and it says when jobs and webhooks are tried again and when sessions, conversations
/// and what is kept are over.
package final class WorldClock: Sendable {
    /// Somebody who sleeps.
    private struct Sleeper {
        let name: WallClock.Sleeper
        /// By this clock.
        let due: Date
        /// By the machine's clock, for those who wake by whichever comes first.
        let latest: Date?
        let continuation: CheckedContinuation<Void, any Error>
        /// By the machine's clock: when its timer wakes it.
        var waking: Date?
        var timer: Task<Void, Never>?
    }

    private struct State {
        var offset: TimeInterval = 0
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Cancelled before they could fall asleep.
        var cancelled: Set<Int> = []
    }

    /// The machine's clock, which this one runs with.
    package let wall: WallClock
    private let state = LockedValue(State())

    package init(_ wall: WallClock) { self.wall = wall }

    package var now: Date {
        let offset = offset
        return offset == 0 ? wall.now : wall.now.addingTimeInterval(offset)
    }

    /// How far it is ahead of the machine's clock, in seconds.
    package var offset: TimeInterval { state.withLock { $0.offset } }

    /// Sets it forward, or back. Those whose time has come wake.
    package func move(by seconds: TimeInterval) {
        let sleepers = state.withLock { state in
            state.offset += seconds
            return Array(state.sleepers.keys)
        }
        for number in sleepers { startTimer(of: number) }
    }

    /// Whether something that we issued has ended: its lifetime has passed on the machine's clock or on this one.
    /// - Parameters:
    ///   - end: by the machine's clock, in seconds since 1970.
    ///   - offset: of this clock when it was issued, see ``offset``.
    package func hasPassed(_ end: TimeInterval, issuedAt offset: TimeInterval?) -> Bool {
        end <= wallTime(issuedAt: offset ?? 0).timeIntervalSince1970
    }

    /// The machine's time for something that we issued: later by as much as this clock was set forward since.
    package func wallTime(issuedAt offset: TimeInterval) -> Date {
        wall.now.addingTimeInterval(max(0, self.offset - offset))
    }

    // MARK: Sleep

    /// Returns after the duration, or throws `CancellationError` at once when its task is cancelled.
    package func sleep(for duration: Duration, as sleeper: WallClock.Sleeper) async throws {
        try await sleep(for: duration, as: sleeper, isBounded: false)
    }

    /// Returns when the duration has passed on this clock or on the machine's, whichever comes first.
    package func sleepByEither(for duration: Duration, as sleeper: WallClock.Sleeper) async throws {
        try await sleep(for: duration, as: sleeper, isBounded: true)
    }

    private func sleep(for duration: Duration, as name: WallClock.Sleeper, isBounded: Bool) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (wallTime, seconds) = (wall.now, duration / .seconds(1))
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return true }
                    state.sleepers[number] = Sleeper(
                        name: name, due: wallTime.addingTimeInterval(state.offset + seconds),
                        latest: isBounded ? wallTime.addingTimeInterval(seconds) : nil, continuation: continuation)
                    return false
                }
                guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
                startTimer(of: number)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.timer?.cancel()
            sleeper?.continuation.resume(throwing: CancellationError())
        }
        // A task that is cancelled while it wakes leaves its mark.
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Has a sleeper woken when its time comes, as the clocks are now.
    private func startTimer(of number: Int) {
        let wallTime = wall.now
        let wait = state.withLock { state -> (left: TimeInterval, name: WallClock.Sleeper)? in
            guard let sleeper = state.sleepers[number] else { return nil }
            let due = sleeper.due.addingTimeInterval(-state.offset)
            let waking = min(due, sleeper.latest ?? due)
            guard sleeper.waking != waking else { return nil }
            state.sleepers[number]?.waking = waking
            return (waking.timeIntervalSince(wallTime), sleeper.name)
        }
        guard let (left, name) = wait else { return }
        let timer = Task { [weak self, wall] in
            if left > 0 {
                guard (try? await wall.sleep(for: .seconds(left), as: name)) != nil else { return }
            }
            self?.wake(number)
        }
        let former = state.withLock { state in
            guard state.sleepers[number] != nil else { return timer as Task<Void, Never>? }
            defer { state.sleepers[number]?.timer = timer }
            return state.sleepers[number]?.timer
        }
        former?.cancel()
    }

    private func wake(_ number: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume()
    }
}
