package import Basics
package import Foundation

/// Clock of a world, used for all domain decisions. The clock follows the machine's clock at an adjustable offset, or
/// stands still.
///
/// Rows and answers carry its times. It also schedules retries of jobs and webhooks, and the expiry of sessions,
/// conversations and stored data.
package final class WorldClock: Sendable {
    /// Sleeping task, or an action that is due at a time.
    private struct Sleeper {
        let name: WallClock.Sleeper
        /// Wake time on this clock.
        let due: Date
        /// Latest wake time on the machine's clock, for sleeps bounded by both clocks; nil otherwise.
        let latest: Date?
        /// Wakes the task, or runs the action unless it is cancelled.
        let end: @Sendable (_ isCancelled: Bool) -> Void
        /// Wake time of the running timer, on the machine's clock.
        var waking: Date?
        var timer: Task<Void, Never>?
    }

    private struct State {
        /// Offset while the clock runs.
        var offset: TimeInterval = 0
        /// Time at which the clock stands still; nil while it runs.
        var frozen: Date?
        var changes = 0
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Tasks that were cancelled before they fell asleep.
        var cancelled: Set<Int> = []

        /// - Parameter due: gets the present time, and returns the wake time, both on this clock.
        mutating func add(
            _ number: Int, _ name: WallClock.Sleeper, _ wallTime: Date, atMost limit: Duration?, _ due: (Date) -> Date,
            _ end: @escaping @Sendable (_ isCancelled: Bool) -> Void
        ) {
            sleepers[number] = Sleeper(
                name: name, due: due(frozen ?? wallTime.addingTimeInterval(offset)),
                latest: limit.map { wallTime.addingTimeInterval($0 / .seconds(1)) }, end: end)
        }
    }

    /// Clock of the machine, which this clock follows.
    package let wall: WallClock
    private let state = LockedValue(State())

    package init(_ wall: WallClock) { self.wall = wall }

    package var now: Date {
        let (offset, frozen) = state.withLock { ($0.offset, $0.frozen) }
        if let frozen { return frozen }
        return offset == 0 ? wall.now : wall.now.addingTimeInterval(offset)
    }

    /// Offset ahead of the machine's clock, in seconds.
    package var offset: TimeInterval {
        let (offset, frozen) = state.withLock { ($0.offset, $0.frozen) }
        return frozen?.timeIntervalSince(wall.now) ?? offset
    }

    /// Number of times that the clock was moved, frozen or set running.
    package var changes: Int { state.withLock { $0.changes } }

    /// Whether the clock stands still.
    package var isFrozen: Bool { state.withLock { $0.frozen != nil } }

    /// Sets the clock, and wakes every sleeper whose time has come. A frozen clock stays frozen.
    package func set(to time: Date) {
        let machine = wall.now
        change { state in
            state.offset = time.timeIntervalSince(machine)
            if state.frozen != nil { state.frozen = Self.stop(time) }
        }
    }

    /// Stops the clock, or lets it run on from where it stands.
    /// - Parameter time: the time to stop at; nil for the present one.
    package func freeze(at time: Date? = nil) {
        let (present, machine) = (now, wall.now)
        let stop = Self.stop(time ?? present)
        change { state in
            state.frozen = stop
            state.offset = stop.timeIntervalSince(machine)
        }
    }

    /// Time at which a stopped clock stands: a little after the nearest millisecond.
    ///
    /// The store rounds times to milliseconds, and sums of times differ from them by less than a microsecond. Work of
    /// that millisecond must be due, by any sum.
    private static func stop(_ time: Date) -> Date {
        Date(timeIntervalSince1970: ((time.timeIntervalSince1970 * 1000).rounded() + 0.1) / 1000)
    }

    /// Millisecond at which a sleeper is due where the clock is stopped or moved from one due time to the next.
    private static func due(_ time: Date) -> Date {
        Date(timeIntervalSince1970: (time.timeIntervalSince1970 * 1000).rounded() / 1000)
    }

    /// Lets the clock run: on from where it stands, or with the machine's time.
    package func run(withMachine: Bool) {
        let (present, machine) = (now, wall.now)
        change { state in
            state.frozen = nil
            state.offset = withMachine ? 0 : present.timeIntervalSince(machine)
        }
    }

    private func change(_ change: (inout State) -> Void) {
        let sleepers = state.withLock { state in
            change(&state)
            state.changes += 1
            return Array(state.sleepers.keys)
        }
        for number in sleepers { startTimer(of: number) }
    }

    /// Tasks that sleep, with their wake time on this clock, the earliest first.
    package var sleepers: [(name: WallClock.Sleeper, due: Date)] {
        state.withLock { $0.sleepers.values.map { ($0.name, Self.due($0.due)) } }.sorted { $0.due < $1.due }
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

    /// Runs an action once a duration has passed on this clock or on the machine's, whichever passes first.
    /// - Returns: The number with which ``cancel(_:)`` calls the action off.
    package func schedule(
        for duration: Duration, as name: WallClock.Sleeper, _ action: @escaping @Sendable () -> Void
    ) -> Int {
        schedule(as: name, atMost: duration, { $0.addingTimeInterval(duration / .seconds(1)) }, action)
    }

    /// Runs an action at a time on this clock.
    /// - Parameter limit: longest wait on the machine's clock; nil for none.
    /// - Returns: The number with which ``cancel(_:)`` calls the action off.
    package func schedule(
        at time: Date, as name: WallClock.Sleeper, atMost limit: Duration?, _ action: @escaping @Sendable () -> Void
    ) -> Int {
        schedule(as: name, atMost: limit, { _ in time }, action)
    }

    private func schedule(
        as name: WallClock.Sleeper, atMost limit: Duration?, _ due: (Date) -> Date,
        _ action: @escaping @Sendable () -> Void
    ) -> Int {
        let wallTime = wall.now
        let number = state.withLock { state in
            state.next += 1
            state.add(state.next, name, wallTime, atMost: limit, due) { isCancelled in
                if !isCancelled { action() }
            }
            return state.next
        }
        startTimer(of: number)
        return number
    }

    /// Calls off an action that has not run.
    package func cancel(_ number: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.timer?.cancel()
    }

    /// Sleeps for a duration on this clock, or throws `CancellationError` at once if its task is cancelled.
    package func sleep(for duration: Duration, as name: WallClock.Sleeper) async throws {
        try await sleep(as: name, atMost: nil) { $0.addingTimeInterval(duration / .seconds(1)) }
    }

    /// Sleeps until a time on this clock, which may have been moved since the time was read.
    /// - Parameter limit: longest sleep on the machine's clock; nil for none.
    package func sleep(until time: Date, as name: WallClock.Sleeper, atMost limit: Duration? = nil) async throws {
        try await sleep(as: name, atMost: limit) { _ in time }
    }

    /// - Parameter due: gets the present time, and returns the wake time, both on this clock.
    private func sleep(
        as name: WallClock.Sleeper, atMost limit: Duration?, _ due: @Sendable (Date) -> Date
    ) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let wallTime = wall.now
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(number) != nil { return true }
                    state.add(number, name, wallTime, atMost: limit, due) { isCancelled in
                        if isCancelled {
                            continuation.resume(throwing: CancellationError())
                        } else {
                            continuation.resume()
                        }
                    }
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
            sleeper?.end(true)
        }
        // A task that is cancelled while it wakes leaves an entry in `cancelled`.
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    /// Starts a timer that wakes a sleeper, and cancels the former timer. A timer with the right time stays.
    private func startTimer(of number: Int) {
        let wallTime = wall.now
        let wait = state.withLock { state -> (left: TimeInterval, name: WallClock.Sleeper)? in
            guard let sleeper = state.sleepers[number] else { return nil }
            // On the machine's clock. Nothing is due while the clock stands still before it.
            let due =
                if let frozen = state.frozen {
                    Self.due(sleeper.due) <= frozen ? Date.distantPast : .distantFuture
                } else {
                    sleeper.due.addingTimeInterval(-state.offset)
                }
            let waking = min(due, sleeper.latest ?? due)
            guard sleeper.waking != waking else { return nil }
            state.sleepers[number]?.waking = waking
            return (waking.timeIntervalSince(wallTime), sleeper.name)
        }
        guard let (left, name) = wait else { return }
        let timer = Task { [weak self, wall] in
            if left > 0 {
                // A century: the clock stands still.
                guard left < 3_153_600_000 else { return }
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
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.end(false)
    }
}
