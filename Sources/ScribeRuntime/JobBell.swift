import NIOConcurrencyHelpers
package import ScribeDomain

/// Wakes the job runner when there may be work. Ringing while nobody listens is not lost.
package final class JobBell: Sendable {
    private struct State {
        var hasRung = false
        var listener: AsyncStream<Void>.Continuation?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// There may be work.
    package func ring() {
        let listener = state.withLockedValue { state in
            if state.listener == nil { state.hasRung = true }
            defer { state.listener = nil }
            return state.listener
        }
        listener?.yield()
    }

    /// Returns when the bell has rung since the last wait, or after `limit`. For one listener.
    func wait(atMost limit: Duration?, clock: ScribeClock) async throws {
        let stream: AsyncStream<Void>? = state.withLockedValue { state in
            if state.hasRung {
                state.hasRung = false
                return nil
            }
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            state.listener = continuation
            return stream
        }
        guard let stream else { return }
        // A wait that ran out of time listens no more: a ring from now on is for the next one.
        defer { state.withLockedValue { $0.listener = nil } }
        try await firstOf(stream, limit: limit, clock: clock)
    }
}

/// Returns when the stream has something, or after `limit`; nil waits for ever.
/// - Throws: `CancellationError` when the task is cancelled meanwhile.
package func firstOf(_ stream: AsyncStream<Void>, limit: Duration?, clock: ScribeClock) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var iterator = stream.makeAsyncIterator()
            await iterator.next()
        }
        if let limit { group.addTask { try await clock.sleep(for: limit) } }
        defer { group.cancelAll() }
        try await group.next()
        try Task.checkCancellation()
    }
}
