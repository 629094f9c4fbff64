import ScribeDomain
import ScribeStore

/// Inbox of one kind of job: wakes the loop, and holds claimed jobs. A ring before the loop waits is not lost.
final class JobBell: Sendable {
    private struct State {
        var hasRung = false
        var handed: [Job] = []
        var listener: AsyncStream<Void>.Continuation?
    }

    private let state = LockedValue(State())
    private let listener: WallClock.Sleeper

    /// - Parameter listener: the loop that waits, as the clock's sleepers are named.
    init(for listener: WallClock.Sleeper = .jobRunner) { self.listener = listener }

    /// Announces that the store may have due jobs.
    func ring() { wake { $0.hasRung = true } }

    /// Hands over a job that is already claimed.
    func hand(_ job: Job) { wake { $0.handed.append(job) } }

    private func wake(_ change: (inout State) -> Void) {
        let listener = state.withLock { state in
            change(&state)
            defer { state.listener = nil }
            return state.listener
        }
        listener?.yield()
    }

    /// Returns whether the bell has rung since the last call.
    func takeRing() -> Bool {
        state.withLock { state in
            defer { state.hasRung = false }
            return state.hasRung
        }
    }

    /// Removes and returns claimed jobs, oldest first.
    func handedJobs(upTo limit: Int) -> [Job] {
        state.withLock { state in
            let taken = Array(state.handed.prefix(limit))
            state.handed.removeFirst(taken.count)
            return taken
        }
    }

    /// Waits for a ring or a claimed job, for `limit` at most. Returns at once if either is pending. Supports one
    /// waiting task.
    /// - Returns: whether to query the store: false when only a claimed job is pending.
    func wait(atMost limit: Duration?, clock: WorldClock) async throws -> Bool {
        let stream: AsyncStream<Void>? = state.withLock { state in
            guard !state.hasRung, state.handed.isEmpty else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            state.listener = continuation
            return stream
        }
        if let stream {
            // After a timeout, a later ring belongs to the next wait.
            defer { state.withLock { $0.listener = nil } }
            try await firstOf(stream, limit: limit, clock: clock, as: listener)
        }
        return takeRing() || state.withLock { $0.handed.isEmpty }
    }
}

/// Waits for the stream's first element, for `limit` at most; nil waits for ever. The stream has ended then.
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
