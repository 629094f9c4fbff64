package import ScribeDomain
import ServiceLifecycle

/// Tells those who wait for a transaction that it has changed. It carries no news itself: whoever is told reads anew.
package final class ChangeSignals: Sendable {
    private struct Waiters {
        var next = 0
        var byKey: [Transaction.Key: [Int: ChangeSubscription]] = [:]
    }

    private let waiters = LockedValue(Waiters())
    /// Counts changes, each of very many transactions' together: that one's answer is read anew when another changes
    /// does no harm, and the memory is bounded.
    private let versions = LockedValue([UInt64](repeating: 0, count: slotCount))

    private let hasEnded = LockedValue(false)

    private static let slotCount = 1024

    package init() {}

    /// Reads, and reads anew after each change of a transaction, until what was read is final. The wait ends before that
    /// when its time is over, when the client has gone, when the server stops and when the task is cancelled: what was
    /// read last is the answer then.
    ///
    /// The wait ends with the change itself: nothing is looked at again and again, and no clock that is set back makes
    /// it so.
    /// - Parameters:
    ///   - departure: of the client, for whom nothing need be held any more then.
    ///   - read: says whether what it has read is final.
    /// - Throws: what `read` throws.
    package func held<Value: Sendable>(
        _ key: Transaction.Key, atMost limit: Duration, clock: WorldClock, until departure: Departure,
        _ read: () async throws -> (value: Value, isFinal: Bool)
    ) async throws -> Value {
        // Subscribed to first, so that what changes while it is read is not lost.
        let (subscription, number) = subscribe(to: key)
        defer { end(number, of: key) }
        let first = try await read()
        if first.isFinal || limit <= .zero || departure.hasHappened || hasEnded.withLock({ $0 }) { return first.value }
        return try await withGracefulShutdownHandler {
            try await departure.watched(by: subscription.expire) {
                async let _: Void = subscription.expire(after: limit, clock)
                var last = first.value
                while await subscription.next(), !hasEnded.withLock({ $0 }) {
                    let (value, isFinal) = try await read()
                    if isFinal || subscription.hasExpired { return value }
                    last = value
                }
                return last
            }
        } onGracefulShutdown: {
            subscription.expire()
        }
    }

    /// Ends all waits, and those that begin later: nothing is read any more.
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

    /// Another number after every change of the transaction. What was read after the number was taken, is as it says.
    package func version(of key: Transaction.Key) -> UInt64 {
        versions.withLock { $0[Self.slot(of: key)] }
    }

    private static func slot(of key: Transaction.Key) -> Int {
        Int(UInt(bitPattern: key.hashValue) % UInt(slotCount))
    }

    /// The transaction has changed, and the change is stored.
    func post(_ key: Transaction.Key) {
        versions.withLock { $0[Self.slot(of: key)] += 1 }
        wake(key)
    }

    /// Makes those who wait for the transaction look again, though its results are as they were.
    func wake(_ key: Transaction.Key) {
        let subscriptions = waiters.withLock { $0.byKey[key].map { Array($0.values) } ?? [] }
        for subscription in subscriptions { subscription.yield() }
    }

    /// How many wait now.
    package var waiterCount: Int { waiters.withLock { $0.byKey.values.reduce(0) { $0 + $1.count } } }
}

/// One who waits for a transaction's changes.
private final class ChangeSubscription: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let isOver = LockedValue(false)

    init() {
        // One unread change is kept, however many there were.
        (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func yield() { continuation.yield() }

    /// Returns after the next change, at once if there was one since the last; or when the wait is over.
    /// - Returns: false when the task was cancelled: there will be no other then.
    func next() async -> Bool {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next() != nil
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
