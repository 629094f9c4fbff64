/// Lock that is held across suspension points. Waiting callers get it in the order in which they came.
///
/// A cancelled caller waits too, so that `body` decides what its cancellation means.
package final class AsyncMutex: Sendable {
    private struct State {
        var isHeld = false
        var waiting: ArraySlice<CheckedContinuation<Void, Never>> = []
    }

    private let state = LockedValue(State())

    package init() {}

    /// Runs `body` while no other caller's `body` runs. `body` must not take the same lock again.
    package func withLock<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isHeld else {
                    state.isHeld = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { unlock() }
        return try await body()
    }

    private func unlock() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            state.isHeld = next != nil
            return next
        }
        next?.resume()
    }
}
