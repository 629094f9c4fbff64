import Basics
import ScribeDomain

/// Wakes held polls of a transaction when it changes. A signal carries no data: the poll reads the transaction again.
package final class ChangeSignals: Sendable {
    private struct Waiters {
        var next = 0
        var byKey: [Transaction.Key: [Int: ChangeSubscription]] = [:]
    }

    private let waiters = LockedValue(Waiters())
    private let hasEnded = LockedValue(false)
    /// Time after which held polls read again without a change; nil where no other process changes the data.
    let interval: Duration?
    package let versions = TransactionVersions()

    /// - Parameter interval: time after which held polls read again without a change; nil where no other process
    ///   changes the data.
    package init(rereadsEvery interval: Duration? = nil) { self.interval = interval }

    /// Whether every change of the data is signalled at once. Another process's changes come later, or not at all.
    package var knowsAllChanges: Bool { interval == nil }

    func requireOngoing() throws(ScribeError) {
        if hasEnded.withLock({ $0 }) { throw .transactionNotFound }
    }

    /// Ends all waits, also those that begin later.
    package func end() {
        hasEnded.withLock { $0 = true }
        let subscriptions = waiters.withLock { $0.byKey.values.flatMap(\.values) }
        for subscription in subscriptions { subscription.expire() }
    }

    func subscribe(to key: Transaction.Key) -> (ChangeSubscription, number: Int) {
        let subscription = ChangeSubscription()
        let number = waiters.withLock { waiters in
            waiters.next += 1
            waiters.byKey[key, default: [:]][waiters.next] = subscription
            return waiters.next
        }
        return (subscription, number)
    }

    func end(_ number: Int, of key: Transaction.Key) {
        waiters.withLock { waiters in
            waiters.byKey[key]?[number] = nil
            if waiters.byKey[key]?.isEmpty == true { waiters.byKey[key] = nil }
        }
    }

    /// Signals a stored change of a transaction: a new version, and a wake of its held polls.
    func post(_ key: Transaction.Key) {
        versions.count(key)
        wake(key)
    }

    /// Wakes the held polls of a transaction whose results are unchanged.
    func wake(_ key: Transaction.Key) {
        let subscriptions = waiters.withLock { $0.byKey[key].map { Array($0.values) } ?? [] }
        for subscription in subscriptions { subscription.wake() }
    }

    /// The number of held polls.
    package var waiterCount: Int { waiters.withLock { $0.byKey.values.total(\.count) } }
}
