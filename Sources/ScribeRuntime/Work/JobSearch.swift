import Foundation
import ScribeDomain
import ScribeStore

/// Source of a loop's next jobs: jobs that were handed over, and due jobs of the store.
struct JobSearch {
    let inbox: JobInbox
    /// Whether the store may have due jobs.
    private var isDue = true
    /// Due time of the store's next job.
    private var next: Date?
    /// Whether the next call takes handed-over jobs first. The order alternates, so that neither source starves the
    /// other.
    private var beginsWithDelivered = true

    init(inbox: JobInbox) { self.inbox = inbox }

    /// Takes the next jobs.
    /// - Parameters:
    ///   - limit: the maximum number of jobs, at least 1.
    ///   - claim: claims jobs from the store.
    /// - Returns: an empty array when no job is due.
    /// - Throws: the error of `claim`. If there are handed-over jobs, the method returns them
    ///   instead: they are claimed already.
    mutating func jobs(
        upTo limit: Int, at now: Date, _ claim: (Int, Date) async throws -> Claim
    ) async throws -> [Job] {
        if inbox.wakeup.take() || next.map({ $0 <= now }) ?? false { isDue = true }
        beginsWithDelivered.toggle()
        var jobs = beginsWithDelivered ? inbox.deliveredJobs(upTo: limit) : []
        if isDue, jobs.count < limit {
            do {
                switch try await claim(limit - jobs.count, now) {
                case .jobs(let claimed): jobs += claimed
                case .nothing(let next): (isDue, self.next) = (false, next)
                }
            } catch {
                jobs += inbox.deliveredJobs(upTo: limit - jobs.count)
                if jobs.isEmpty { throw error }
            }
        }
        return jobs + inbox.deliveredJobs(upTo: limit - jobs.count)
    }

    /// Waits until a job may be due: for a wake-up, a delivered job, or the due time of the store's next job.
    mutating func wait(_ clock: WorldClock) async throws {
        if try await inbox.wait(until: next, clock: clock) { isDue = true }
    }
}
