import Basics
import Foundation
import ScribeDomain
import ScribeStore

/// Hand-over of jobs that are already claimed, to the loop of their kind.
final class JobInbox: Sendable {
    /// Claimed jobs by tenant. The first tenant has the next turn.
    private let claimed = LockedValue<[(tenant: BusinessID, jobs: ArraySlice<Job>)]>([])
    /// Wakes the loop when the store may have due jobs.
    let wakeup = Wakeup(for: .jobRunner)

    /// Hands over a job that is already claimed.
    func deliver(_ job: Job) {
        let tenant = job.transaction.business
        claimed.withLock { claimed in
            if let index = claimed.firstIndex(where: { $0.tenant == tenant }) {
                claimed[index].jobs.append(job)
            } else {
                claimed.append((tenant, [job]))
            }
        }
        wakeup.interrupt()
    }

    /// Removes and returns claimed jobs: tenants in turn, the jobs of each oldest first.
    func deliveredJobs(upTo limit: Int) -> [Job] {
        claimed.withLock { claimed in
            var taken: [Job] = []
            while taken.count < limit, !claimed.isEmpty {
                var next = claimed.removeFirst()
                taken.append(next.jobs.removeFirst())
                if !next.jobs.isEmpty { claimed.append(next) }
            }
            return taken
        }
    }

    /// Waits for a wake-up or a claimed job. Returns at once if either is pending. Supports one waiting task.
    /// - Parameter end: time of the world's clock at which the wait ends; nil for none.
    /// - Returns: Whether to query the store: false when only a claimed job is pending.
    func wait(until end: Date?, clock: WorldClock) async throws -> Bool {
        // Of jobs that were taken meanwhile. A job is appended before its interruption, so that none is overlooked.
        wakeup.forgetInterruption()
        guard isEmpty else { return wakeup.take() }
        return try await wakeup.wait(until: end, clock: clock) || isEmpty
    }

    private var isEmpty: Bool { claimed.withLock { $0.isEmpty } }
}
