import Basics
import Foundation
import ScribeDomain
import ScribeStore

/// Inbox of a work loop: wakes the loop, and holds claimed jobs for it. A wake-up before the loop waits is not lost.
final class JobInbox: Sendable {
    private struct State {
        var isWoken = false
        /// Claimed jobs by tenant. The first tenant has the next turn.
        var delivered: [(tenant: BusinessID, jobs: ArraySlice<Job>)] = []
        var listener: AsyncStream<Void>.Continuation?
    }

    private let state = LockedValue(State())
    private let listener: WallClock.Sleeper

    /// - Parameter listener: name of the waiting loop among the clock's sleepers.
    init(for listener: WallClock.Sleeper = .jobRunner) { self.listener = listener }

    /// Announces that the store may have due jobs.
    func wake() { update { $0.isWoken = true } }

    /// Hands over a job that is already claimed.
    func deliver(_ job: Job) {
        update { state in
            let tenant = job.transaction.business
            if let index = state.delivered.firstIndex(where: { $0.tenant == tenant }) {
                state.delivered[index].jobs.append(job)
            } else {
                state.delivered.append((tenant, [job]))
            }
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let listener = state.withLock { state in
            change(&state)
            defer { state.listener = nil }
            return state.listener
        }
        listener?.yield()
    }

    /// Returns whether ``wake()`` was called since the last call of this method.
    func takeWake() -> Bool {
        state.withLock { state in
            defer { state.isWoken = false }
            return state.isWoken
        }
    }

    /// Removes and returns claimed jobs: tenants in turn, the jobs of each oldest first.
    func deliveredJobs(upTo limit: Int) -> [Job] {
        state.withLock { state in
            var taken: [Job] = []
            while taken.count < limit, !state.delivered.isEmpty {
                var next = state.delivered.removeFirst()
                taken.append(next.jobs.removeFirst())
                if !next.jobs.isEmpty { state.delivered.append(next) }
            }
            return taken
        }
    }

    /// Waits for a wake-up or a claimed job. Returns at once if either is pending. Supports one waiting task.
    /// - Parameters:
    ///   - end: time of the world's clock at which the wait ends; nil for none.
    ///   - machineLimit: longest wait on the machine's clock; nil for none.
    /// - Returns: whether to query the store: false when only a claimed job is pending.
    func wait(
        until end: Date?, atMostByMachine machineLimit: Duration? = nil, clock: WorldClock
    ) async throws -> Bool {
        let stream: AsyncStream<Void>? = state.withLock { state in
            guard !state.isWoken, state.delivered.isEmpty else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            state.listener = continuation
            return stream
        }
        if let stream {
            // After a timeout, a later wake-up belongs to the next wait.
            defer { state.withLock { $0.listener = nil } }
            try await firstOf(stream, until: end, atMostByMachine: machineLimit, clock: clock, as: listener)
        }
        return takeWake() || state.withLock { $0.delivered.isEmpty }
    }
}

/// Waits for the stream's first element, until `end` at most; nil waits for ever. The wait ends the stream.
/// - Throws: `CancellationError` when the task is cancelled meanwhile.
private func firstOf(
    _ stream: AsyncStream<Void>, until end: Date?, atMostByMachine machineLimit: Duration?, clock: WorldClock,
    as sleeper: WallClock.Sleeper
) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            var iterator = stream.makeAsyncIterator()
            await iterator.next()
        }
        if let end { group.addTask { try await clock.sleep(until: end, as: sleeper, atMost: machineLimit) } }
        defer { group.cancelAll() }
        try await group.next()
        try Task.checkCancellation()
    }
}
