import Basics
package import Foundation

/// Counts the requests and sockets that a world serves, to find idle worlds.
package final class WorldUse: Sendable {
    private struct State {
        var count = 0
        var last: Date
        /// Whether a wait was cancelled: the world is closed whatever it serves.
        var isCancelled = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: LockedValue<State>
    private let clock: WallClock

    /// - Parameter clock: The machine's clock.
    init(clock: WallClock) {
        self.clock = clock
        state = LockedValue(State(last: clock.now))
    }

    /// Begins a request or socket.
    package func begin() { state.withLock { $0.count += 1 } }

    /// Ends a request or socket.
    package func end() {
        let now = clock.now
        let waiters = state.withLock { state in
            state.count -= 1
            state.last = now
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no request and no socket is served, or until the task is cancelled.
    package func whenIdle() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIdle = state.withLock { state in
                    guard state.count > 0, !state.isCancelled else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isIdle { continuation.resume() }
            }
        } onCancel: {
            let waiters = state.withLock { state in
                state.isCancelled = true
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume() }
        }
    }

    /// Time of the last use: now while a request or socket is served.
    package var last: Date {
        let now = clock.now
        return state.withLock { $0.count > 0 ? now : $0.last }
    }

}
