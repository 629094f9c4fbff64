package import Basics
package import ScribeDomain
import ServiceLifecycle

/// Wakes held polls of a transaction when it changes. A signal carries no data: the poll reads the transaction again.
package final class ChangeSignals: Sendable {
    private struct Waiters {
        var next = 0
        var byKey: [Transaction.Key: [Int: ChangeSubscription]] = [:]
    }

    private let waiters = LockedValue(Waiters())
    /// Version counters in 1,024 hash slots, which bounds the memory. A collision costs one extra read.
    private let versions = LockedValue([UInt64](repeating: 0, count: slotCount))

    private let hasEnded = LockedValue(false)

    private static let slotCount = 1024

    private let interval: Duration?

    /// - Parameter interval: time after which held polls read again without a change; nil where no other process
    ///   changes the data.
    package init(rereadsEvery interval: Duration? = nil) { self.interval = interval }

    /// Whether every change of the data is signalled at once. Another process's changes come later, or not at all.
    package var knowsAllChanges: Bool { interval == nil }

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
        return try await withGracefulShutdownHandler {
            try await clientDisconnect.watched(by: subscription.expire) {
                async let _: Void = subscription.expire(after: limit, clock)
                async let _: Void = subscription.yield(every: interval, clock.wall)
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

    private func requireOngoing() throws(ScribeError) {
        if hasEnded.withLock({ $0 }) { throw .transactionNotFound }
    }

    /// Ends all waits, also those that begin later.
    package func end() {
        hasEnded.withLock { $0 = true }
        let subscriptions = waiters.withLock { $0.byKey.values.flatMap(\.values) }
        for subscription in subscriptions { subscription.expire() }
    }

    private func subscribe(to key: Transaction.Key) -> (ChangeSubscription, number: Int) {
        let subscription = ChangeSubscription()
        let number = waiters.withLock { waiters in
            waiters.next += 1
            waiters.byKey[key, default: [:]][waiters.next] = subscription
            return waiters.next
        }
        return (subscription, number)
    }

    private func end(_ number: Int, of key: Transaction.Key) {
        waiters.withLock { waiters in
            waiters.byKey[key]?[number] = nil
            if waiters.byKey[key]?.isEmpty == true { waiters.byKey[key] = nil }
        }
    }

    /// A number that differs after every change of the transaction. A value that was read after the number is valid as
    /// long as the number is the same.
    package func version(of key: Transaction.Key) -> UInt64 {
        versions.withLock { $0[Self.slot(of: key)] }
    }

    /// The number of changes so far, of all transactions together.
    package var changeCount: UInt64 { versions.withLock { $0.reduce(0, &+) } }

    private static func slot(of key: Transaction.Key) -> Int {
        Int(UInt(bitPattern: key.hashValue) % UInt(slotCount))
    }

    /// Signals a stored change of a transaction: a new version, and a wake of its held polls.
    func post(_ key: Transaction.Key) {
        versions.withLock { $0[Self.slot(of: key)] += 1 }
        wake(key)
    }

    /// Wakes the held polls of a transaction whose results are unchanged.
    func wake(_ key: Transaction.Key) {
        let subscriptions = waiters.withLock { $0.byKey[key].map { Array($0.values) } ?? [] }
        for subscription in subscriptions { subscription.yield() }
    }

    /// The number of held polls.
    package var waiterCount: Int { waiters.withLock { $0.byKey.values.total(\.count) } }
}

/// Subscription of one held poll to the changes of a transaction.
private final class ChangeSubscription: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let isOver = LockedValue(false)

    init() {
        // Several unread changes count as one.
        (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func yield() { continuation.yield() }

    /// Returns after the next change or at the end of the wait; at once if there was a change since the last call.
    /// - Returns: False if the task was cancelled.
    func next() async -> Bool {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next() != nil
    }

    /// Wakes the wait again and again, until the task is cancelled.
    func yield(every interval: Duration?, _ clock: WallClock) async {
        guard let interval else { return }
        while (try? await clock.sleep(for: interval, as: .heldPoll)) != nil { yield() }
    }

    @Sendable func expire() {
        isOver.withLock { $0 = true }
        continuation.yield()
    }

    func expire(after limit: Duration, _ clock: WorldClock) async {
        guard (try? await clock.sleepByEither(for: limit, as: .heldPoll)) != nil else { return }
        expire()
    }

    var hasExpired: Bool { isOver.withLock { $0 } }
}
