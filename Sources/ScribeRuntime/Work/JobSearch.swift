import Foundation
import ScribeDomain
import ScribeStore

/// Where the runner's next jobs come from: those that were handed over, and those that are due in the store.
struct JobSearch {
    let bell: JobBell
    /// Whether some in the store may be due.
    private var isDue = true
    /// When the next one will be.
    private var next: Date?
    /// Who comes first takes turns, so that neither keeps the other waiting.
    private var beginsWithHanded = true

    init(bell: JobBell) { self.bell = bell }

    /// - Parameters:
    ///   - limit: at most that many, one at least.
    ///   - claim: gets jobs from the store.
    /// - Returns: none when there is nothing to do now.
    /// - Throws: what `claim` throws, unless there are jobs all the same: those are claimed and must be done.
    mutating func jobs(
        upTo limit: Int, at now: Date, _ claim: (Int, Date) async throws -> Claim
    ) async throws -> [Job] {
        if bell.takeRing() || next.map({ $0 <= now }) ?? false { isDue = true }
        beginsWithHanded.toggle()
        var jobs = beginsWithHanded ? bell.handedJobs(upTo: limit) : []
        if isDue, jobs.count < limit {
            do {
                switch try await claim(limit - jobs.count, now) {
                case .jobs(let claimed): jobs += claimed
                case .nothing(let next): (isDue, self.next) = (false, next)
                }
            } catch {
                jobs += bell.handedJobs(upTo: limit - jobs.count)
                if jobs.isEmpty { throw error }
            }
        }
        return jobs + bell.handedJobs(upTo: limit - jobs.count)
    }

    /// Waits until there may be something to do.
    mutating func wait(_ clock: WorldClock) async throws {
        let limit = next.map { Duration.seconds(max(0, $0.timeIntervalSince(clock.now))) }
        if try await bell.wait(atMost: limit, clock: clock) { isDue = true }
    }
}
