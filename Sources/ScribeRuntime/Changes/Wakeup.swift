import Basics
import Foundation
import ScribeDomain

/// Wake-ups for one waiting task. A wake-up before a wait is not lost, and several count as one.
final class Wakeup: Sendable {
    private struct State {
        var isWoken = false
        /// Whether a wait ends without a wake-up.
        var isInterrupted = false
        var waiter: CheckedContinuation<Void, Never>?

        var isPending: Bool { isWoken || isInterrupted }
    }

    private let state = LockedValue(State())
    /// Name of the waiting task among the clock's sleepers.
    private let sleeper: WallClock.Sleeper

    init(for sleeper: WallClock.Sleeper) { self.sleeper = sleeper }

    func wake() { update { $0.isWoken = true } }

    /// Ends the present wait, or else the next one, without a wake-up.
    func interrupt() { update { $0.isInterrupted = true } }

    /// Forgets an interruption that no wait has seen.
    func forgetInterruption() { state.withLock { $0.isInterrupted = false } }

    private func update(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns whether there was a wake-up since the last wait or call of this method.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isWoken = false }
            return state.isWoken
        }
    }

    /// Waits for a wake-up or an interruption. Returns at once if either is pending. Supports one waiting task.
    /// - Returns: Whether there was a wake-up.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    func wait() async throws -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isPending = state.withLock { state in
                    if !state.isPending { state.waiter = continuation }
                    return state.isPending
                }
                if isPending { continuation.resume() }
            }
        } onCancel: {
            interrupt()
        }
        try Task.checkCancellation()
        return state.withLock { state in
            defer { (state.isWoken, state.isInterrupted) = (false, false) }
            return state.isWoken
        }
    }

    /// Waits as ``wait()`` does, until a time at most.
    /// - Parameters:
    ///   - end: time of the world's clock at which the wait ends; nil for none.
    ///   - machineLimit: longest wait on the machine's clock; nil for none.
    @discardableResult
    func wait(until end: Date?, atMostByMachine machineLimit: Duration? = nil, clock: WorldClock) async throws -> Bool {
        guard let end, !state.withLock({ $0.isPending }) else { return try await wait() }
        let timer = clock.schedule(at: end, as: sleeper, atMost: machineLimit) { [self] in interrupt() }
        defer { clock.cancel(timer) }
        return try await wait()
    }
}
