package import Basics
package import ScribeDomain
import ServiceLifecycle

extension ChangeSignals {
    /// Long poll: reads a transaction, and reads it again after each change, until the value is final. The wait ends
    /// early at its limit, when the client disconnects, when the server stops, and when the task is cancelled. Then the
    /// last value is the answer. A reset leaves no value: the poll answers as one that begins after it.
    ///
    /// A change itself wakes the wait, also after the clock was set back. There is no polling interval unless other
    /// processes change the data.
    /// - Parameters:
    ///   - clientDisconnect: The client's disconnect, which ends the wait.
    ///   - read: Returns a value and whether it is final.
    /// - Throws: Errors of `read`; ``ScribeError/transactionNotFound`` once the world has ended.
    package func longPoll<Value: Sendable>(
        _ key: Transaction.Key, atMost limit: Duration, clock: WorldClock, until clientDisconnect: OneShotSignal,
        _ read: () async throws -> (value: Value, isFinal: Bool)
    ) async throws -> Value {
        // The subscription comes first, so that no change during the read is lost.
        let (subscription, number) = subscribe(to: key)
        defer { end(number, of: key) }
        let first = try await read()
        if first.isFinal { return first.value }
        try requireOngoing()
        if limit <= .zero || clientDisconnect.hasFired { return first.value }
        let timer = clock.schedule(for: limit, as: .heldPoll) { subscription.expire() }
        defer { clock.cancel(timer) }
        let rereading = interval.map { interval in
            Task { while (try? await clock.wall.sleep(for: interval, as: .heldPoll)) != nil { subscription.wake() } }
        }
        defer { rereading?.cancel() }
        return try await withGracefulShutdownHandler {
            try await clientDisconnect.watched(by: { subscription.expire() }) {
                var last = first.value
                while await subscription.next() {
                    try requireOngoing()
                    let (value, isFinal) = try await read()
                    if isFinal { return value }
                    try requireOngoing()
                    if subscription.hasExpired { return value }
                    last = value
                }
                return last
            }
        } onGracefulShutdown: {
            subscription.expire()
        }
    }
}
