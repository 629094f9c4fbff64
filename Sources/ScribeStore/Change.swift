package import ScribeDomain

/// Something that others may be waiting for, and that is now stored.
package enum Change: Hashable, Sendable {
    /// A transaction or its results are other than they were.
    case transaction(Transaction.Key)
    /// Audio of a transaction has arrived; its results are as they were.
    case audio(Transaction.Key)
    /// There may be a job of that kind to do, now or at another time than before.
    case work(Job.Kind)
    /// There may be something to deliver in that lane, now or at another time than before.
    case delivery(lane: String)
    /// Something falls due by time alone, perhaps earlier than what was next before.
    case due(TimedWork)
    /// A job was claimed for whoever does the jobs.
    case claimed(Job)
}

/// What falls due by time alone.
package enum TimedWork: Hashable, Sendable, CaseIterable {
    /// The time of a recording is over.
    case expiry
    /// A conversation has been silent for long enough.
    case silence
}

/// Where every change goes, in the order in which they were stored. Whoever waits for one hangs on this: a handler
/// announces nothing itself, and so cannot forget to.
package protocol ChangeSink: Sendable {
    /// Called on the writer's thread once the change is stored, before the write returns to its caller: to be done at
    /// once.
    func publish(_ change: Change)
}
