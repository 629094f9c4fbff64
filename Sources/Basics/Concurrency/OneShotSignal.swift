/// Fires once, when the client of a connection disconnects or half-closes.
package final class OneShotSignal: Sendable {
    private struct State {
        var hasFired = false
        var next = 0
        var watchers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = LockedValue(State())

    package init() {}

    package var hasFired: Bool { state.withLock { $0.hasFired } }

    package func fire() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            state.hasFired = true
            return state.watchers.values
        }
        for watcher in watchers { watcher() }
    }

    /// Runs `body`, and calls `watcher` once if the signal has fired before or fires meanwhile.
    package func watched<Value>(by watcher: @escaping @Sendable () -> Void, _ body: () async throws -> Value)
        async rethrows
        -> Value
    {
        let number = state.withLock { state -> Int? in
            guard !state.hasFired else { return nil }
            state.next += 1
            state.watchers[state.next] = watcher
            return state.next
        }
        guard let number else {
            watcher()
            return try await body()
        }
        defer { state.withLock { $0.watchers[number] = nil } }
        return try await body()
    }

    /// Runs a wait that ends early, without an error, when the signal fires.
    /// - Throws: the error of `wait`.
    package func shortening(_ wait: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await wait() }
        try await withTaskCancellationHandler {
            try await watched(by: { task.cancel() }) {
                do { try await task.value } catch is CancellationError where hasFired && !Task.isCancelled {}
            }
        } onCancel: {
            task.cancel()
        }
    }
}
