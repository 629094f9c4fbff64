package import Basics
package import Foundation

/// Process that claims jobs, lanes and chores. The claimed rows name the process until the lease ends.
package struct LeaseHolder: Sendable {
    /// Name of the process in the rows.
    package let id: String
    /// Whether no other process works on the data, as the lock of the data folder guarantees. Such a process takes no
    /// leases, and its start takes over all jobs.
    package let isAlone: Bool
    /// Lifetime of a lease that is not renewed, in seconds of the machine's clock.
    package let lifetime: TimeInterval
    /// Whether the process works on jobs. A process that only serves clients leaves them to others.
    package let worksOnJobs: Bool
    private let clock: WallClock?

    /// Makes the holder for a process with the lock of the data folder, or with a database in memory.
    package static func alone(_ id: String = "alone") -> LeaseHolder {
        LeaseHolder(id: id, isAlone: true, lifetime: .infinity, worksOnJobs: true, clock: nil)
    }

    /// Makes the holder for one of several processes that share the data.
    package static func shared(
        _ id: String, lifetime: TimeInterval = 30, worksOnJobs: Bool = true, clock: WallClock
    ) -> LeaseHolder {
        LeaseHolder(id: id, isAlone: false, lifetime: lifetime, worksOnJobs: worksOnJobs, clock: clock)
    }

    private init(id: String, isAlone: Bool, lifetime: TimeInterval, worksOnJobs: Bool, clock: WallClock?) {
        self.worksOnJobs = worksOnJobs
        self.id = id
        self.isAlone = isAlone
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The machine's time, in milliseconds since 1970; 0 for a process that is alone.
    var now: Int64 { clock?.now.milliseconds ?? 0 }

    /// The end of a lease that begins now, in milliseconds since 1970; 0 for a process that is alone.
    var end: Int64 { clock?.now.addingTimeInterval(lifetime).milliseconds ?? 0 }
}

/// Recurring work that one process at a time does for all data.
package enum Chore: String, Sendable, CaseIterable {
    /// The expiry of recordings that their client does not end.
    case expiry
    /// The end of conversations by silence.
    case silence
    /// The removal of expired uploads and deliveries.
    case sweep
    /// The removal of files without a row.
    case orphans
}
