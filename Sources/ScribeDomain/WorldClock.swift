package import Foundation

/// Clock of a world, used for all domain decisions. The clock follows the machine's clock at an adjustable offset.
///
/// Rows and answers carry its times. It also schedules retries of jobs and webhooks, and the expiry of sessions,
/// conversations and stored data.
package final class WorldClock: Sendable {
    /// Sleeping task.
    private struct Sleeper {
        let name: WallClock.Sleeper
        /// Wake time on this clock.
        let due: Date
        /// Latest wake time on the machine's clock, for sleeps bounded by both clocks; nil otherwise.
        let latest: Date?
        let continuation: CheckedContinuation<Void, any Error>
        /// Wake time of the running timer, on the machine's clock.
        var waking: Date?
        var timer: Task<Void, Never>?
    }

    private struct State {
        var offset: TimeInterval = 0
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Tasks that were cancelled before they fell asleep.
        var cancelled: Set<Int> = []
    }

    /// Clock of the machine, which this clock follows.
    package let wall: WallClock
    private let state = LockedValue(State())

    package init(_ wall: WallClock) { self.wall = wall }

    package var now: Date {
        let offset = offset
        return offset == 0 ? wall.now : wall.now.addingTimeInterval(offset)
    }

    /// Offset ahead of the machine's clock, in seconds.
    package var offset: TimeInterval { state.withLock { $0.offset } }

    /// Moves the clock forward or back, and wakes every sleeper whose time has come.
    package func move(by seconds: TimeInterval) {
        let sleepers = state.withLock { state in
            state.offset += seconds
            return Array(state.sleepers.keys)
        }
        for number in sleepers { startTimer(of: number) }
    }

    /// Whether a token or other issued object has expired, on the machine's clock or on this one.
    /// - Parameters:
    ///   - end: expiry on the machine's clock, in seconds since 1970.
    ///   - offset: ``offset`` of this clock at issue; nil counts as 0.
    package func hasPassed(_ end: TimeInterval, issuedAt offset: TimeInterval?) -> Bool {
        end <= wallTime(issuedAt: offset ?? 0).timeIntervalSince1970
    }

    /// Machine's time, plus the seconds by which this clock was moved forward since an object was issued.
    /// - Parameter offset: ``offset`` of this clock at issue.
    package func wallTime(issuedAt offset: TimeInterval) -> Date {
        wall.now.addingTimeInterval(max(0, self.offset - offset))
    }

    // MARK: Sleep

    /// Sleeps for a duration on this clock, or throws `CancellationError` at once if its task is cancelled.
    package func sleep(for duration: Duration, as sleeper: WallClock.Sleeper) async throws {
        try await sleep(for: duration, as: sleeper, isBounded: false)
    }

    /// Sleeps for a duration on this clock or on the machine's, whichever passes first.
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
        // A task that is cancelled while it wakes leaves an entry in `cancelled`.
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Starts a timer that wakes a sleeper, and cancels the former timer. A timer with the right time stays.
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
