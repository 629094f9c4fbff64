package import ScribeDomain

/// A stored change that other tasks may wait for.
package enum Change: Hashable, Sendable {
    /// A transaction or its results have changed.
    case transaction(Transaction.Key)
    /// Audio of a transaction has arrived; its results are unchanged.
    case audio(Transaction.Key)
    /// A kind of job may have work, or its next due time has changed.
    case work(Job.Kind)
    /// A lane may have deliveries, or its next due time has changed.
    case delivery(lane: String)
    /// Timed work was scheduled, possibly before the next known time.
    case due(TimedWork)
    /// A job was claimed for this process's runner.
    case claimed(Job)
}

/// Kinds of work that are due at a time, without another event.
package enum TimedWork: Hashable, Sendable, CaseIterable {
    /// The end of a recording's lifetime.
    case expiry
    /// The end of a conversation by silence.
    case silence
}

/// Receiver of all stored changes, in the order in which they were stored. The store publishes every change itself, so
/// that no request handler can forget to.
package protocol ChangeSink: Sendable {
    /// Receives a stored change, on the writer's thread and before the write returns. Implementations must not block.
    func publish(_ change: Change)
}
