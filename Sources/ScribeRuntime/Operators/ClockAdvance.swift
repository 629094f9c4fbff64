import Basics
package import Foundation
import ScribeDomain
package import ScribeStore

/// Moves a world's clock forward, from due time to due time, and waits for the work that is due.
package struct ClockAdvance: Sendable {
    package enum Target: Hashable, Sendable {
        case time(Date)
        /// Until nothing is due any more. Held polls do not count.
        case idle
    }

    /// Result of moving the clock.
    package struct Outcome: Sendable {
        /// Number of due times that the clock stopped at.
        package let steps: Int
        /// Work that was still running when the longest wait ended; empty otherwise.
        package let running: DueWork
    }

    /// Most steps of one call, so that a clock that has always something due comes to an end.
    private static let maxSteps = 100_000
    /// Time between two looks at the work.
    private static let pause: Duration = .milliseconds(2)
    /// Looks without a pause in between: most work takes less than a pause.
    private static let quickLooks = 50

    private let runtime: Runtime
    /// Longest wait for the work of one step, by the machine's clock.
    private let limit: Duration

    package init(_ runtime: Runtime, atMost limit: Duration) {
        self.runtime = runtime
        self.limit = limit
    }

    private var clock: WorldClock { runtime.clock }

    /// Moves the clock to a target.
    /// - Throws: the store's error.
    package func run(to target: Target) async throws -> Outcome {
        var steps = 0
        var running = try await settle()
        while running.isEmpty, steps < Self.maxSteps, let due = try await nextStep(to: target) {
            clock.set(to: max(due, clock.now))
            steps += 1
            running = try await settle()
        }
        if case .time(let end) = target, running.isEmpty, end > clock.now {
            clock.set(to: end)
            running = try await settle()
        }
        return Outcome(steps: steps, running: running)
    }

    /// The next time at which something is due; nil if nothing is until the target.
    ///
    /// Times of rows count, and not those at which loops wake: a loop may not sleep yet.
    private func nextStep(to target: Target) async throws -> Date? {
        let row = try await runtime.store.work.nextDueTime()
        switch target {
        case .time(let end):
            let poll = clock.sleepers.first { $0.name == .heldPoll }?.due
            return [row, poll].compactMap(\.self).filter { $0 <= end }.min()
        case .idle: return row
        }
    }

    /// Waits until all that is due at the present time is done.
    /// - Returns: the work that is still there at the end of the longest wait.
    private func settle() async throws -> DueWork {
        let end = clock.wall.now.addingTimeInterval(limit / .seconds(1))
        var looks = 0
        while true {
            let work = try await runtime.store.work.dueWork(at: clock.now)
            let now = clock.now
            let sleepers = clock.sleepers
            let isAwake = sleepers.contains { $0.due <= now }
            // A poll that has woken answers, and waits no longer.
            let polls = runtime.signals.waiterCount - sleepers.count { $0.name == .heldPoll }
            if work.isEmpty, !isAwake, polls <= 0 { return work }
            looks += 1
            if looks <= Self.quickLooks {
                await Task.yield()
            } else {
                guard clock.wall.now < end else { return work }
                try await clock.wall.sleep(for: Self.pause, as: .advance)
            }
        }
    }
}
