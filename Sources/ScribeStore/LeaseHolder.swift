package import Foundation
package import ScribeDomain

/// A process that works on the data. Jobs, lanes and chores that it has claimed name it, until their lease is over.
package struct LeaseHolder: Sendable {
    /// The name in the rows.
    package let id: String
    /// Whether no other process works on the data, as the lock of the data folder guarantees. Its leases have no end, and
    /// its start takes over all others.
    package let isAlone: Bool
    /// How long a lease counts unless it is renewed, in seconds of the machine's clock.
    package let lifetime: TimeInterval
    private let clock: WallClock?

    /// A process that has the lock of the data folder, or a database in memory.
    package static func alone(_ id: String = "alone") -> LeaseHolder {
        LeaseHolder(id: id, isAlone: true, lifetime: .infinity, clock: nil)
    }

    /// One of several processes on the same data.
    package static func shared(_ id: String, lifetime: TimeInterval = 30, clock: WallClock) -> LeaseHolder {
        LeaseHolder(id: id, isAlone: false, lifetime: lifetime, clock: clock)
    }

    private init(id: String, isAlone: Bool, lifetime: TimeInterval, clock: WallClock?) {
        self.id = id
        self.isAlone = isAlone
        self.lifetime = lifetime
        self.clock = clock
    }

    /// The machine's time, in milliseconds.
    var now: Int64 { clock?.now.milliseconds ?? 0 }

    /// The end of a lease that begins now, in milliseconds; nil where leases have none.
    var end: Int64? { clock.map { $0.now.addingTimeInterval(lifetime).milliseconds } }
}

/// Work that one process at a time does for all data.
package enum Chore: String, Sendable, CaseIterable {
    /// The end of sessions that nobody ends.
    case expiry
    /// The end of conversations by silence.
    case silence
    /// The removal of uploads and deliveries whose time is over.
    case sweep
    /// The removal of files without a row.
    case orphans
}
