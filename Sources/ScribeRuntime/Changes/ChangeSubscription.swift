import Basics

/// Subscription of one held poll to the changes of a transaction.
final class ChangeSubscription: Sendable {
    private let wakeup = Wakeup(for: .heldPoll)
    private let isOver = LockedValue(false)

    /// Announces a change. Several unread changes count as one.
    func wake() { wakeup.wake() }

    /// Ends the wait.
    func expire() {
        isOver.withLock { $0 = true }
        wakeup.wake()
    }

    var hasExpired: Bool { isOver.withLock { $0 } }

    /// Returns after the next change or at the end of the wait; at once if there was a change since the last call.
    /// - Returns: False if the task was cancelled.
    func next() async -> Bool { (try? await wakeup.wait()) != nil }
}
