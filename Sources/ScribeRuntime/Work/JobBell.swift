import ScribeDomain
import ScribeStore

/// Wakes the loop of one kind of jobs when there may be some. What comes while nobody listens is not lost.
final class JobBell: Sendable {
    private struct State {
        var hasRung = false
        var handed: [Job] = []
        var listener: AsyncStream<Void>.Continuation?
    }

    private let state = LockedValue(State())
    private let listener: WallClock.Sleeper

    /// - Parameter listener: who waits for it.
    init(for listener: WallClock.Sleeper = .jobRunner) { self.listener = listener }

    /// There may be work in the store.
    func ring() { wake { $0.hasRung = true } }

    /// Gives the runner a job that was claimed for it.
    func hand(_ job: Job) { wake { $0.handed.append(job) } }

    private func wake(_ change: (inout State) -> Void) {
        let listener = state.withLock { state in
            change(&state)
            defer { state.listener = nil }
            return state.listener
        }
        listener?.yield()
    }

    /// Whether the bell has rung since the ring was last taken.
    func takeRing() -> Bool {
        state.withLock { state in
            defer { state.hasRung = false }
            return state.hasRung
        }
    }

    /// Takes jobs that were handed over, the first ones first.
    func handedJobs(upTo limit: Int) -> [Job] {
        state.withLock { state in
            let taken = Array(state.handed.prefix(limit))
            state.handed.removeFirst(taken.count)
            return taken
        }
    }

    /// Returns when the bell rings, or has rung and nobody has asked, when a job is handed over, or after `limit`. For
    /// one listener.
    /// - Returns: whether to look into the store: false when there is but a job that was handed over.
    func wait(atMost limit: Duration?, clock: WorldClock) async throws -> Bool {
        let stream: AsyncStream<Void>? = state.withLock { state in
            guard !state.hasRung, state.handed.isEmpty else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            state.listener = continuation
            return stream
        }
        if let stream {
            // A wait that ran out of time listens no more: a ring from now on is for the next one.
            defer { state.withLock { $0.listener = nil } }
            try await firstOf(stream, limit: limit, clock: clock, as: listener)
        }
        return takeRing() || state.withLock { $0.handed.isEmpty }
    }
}

/// Returns when the stream has something, or after `limit`; nil waits for ever. The stream has ended then.
/// - Throws: `CancellationError` when the task is cancelled meanwhile.
private func firstOf(
    _ stream: AsyncStream<Void>, limit: Duration?, clock: WorldClock, as sleeper: WallClock.Sleeper
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var iterator = stream.makeAsyncIterator()
            await iterator.next()
        }
        if let limit { group.addTask { try await clock.sleep(for: limit, as: sleeper) } }
        defer { group.cancelAll() }
        try await group.next()
        try Task.checkCancellation()
    }
}
