import ScribeDomain

/// Fires once, when the client of a connection disconnects or half-closes.
package final class Departure: Sendable {
    private struct State {
        var hasHappened = false
        var next = 0
        var watchers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = LockedValue(State())

    package init() {}

    package var hasHappened: Bool { state.withLock { $0.hasHappened } }

    package func happened() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            state.hasHappened = true
            return state.watchers.values
        }
        for watcher in watchers { watcher() }
    }

    /// Runs `body`, and calls `watcher` if the signal fires meanwhile.
    package func watched<Value>(by watcher: @escaping @Sendable () -> Void, _ body: () async throws -> Value)
        async rethrows
        -> Value
    {
        let number = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = watcher
            return state.next
        }
        defer { state.withLock { $0.watchers[number] = nil } }
        return try await body()
    }
}
