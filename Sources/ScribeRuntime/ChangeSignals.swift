import NIOConcurrencyHelpers
package import ScribeDomain

/// Tells those who wait for a transaction that it has changed. It carries no news itself: whoever is told reads anew.
package final class ChangeSignals: Sendable {
    private struct Waiters {
        var next = 0
        var byKey: [Transaction.Key: [Int: AsyncStream<Void>.Continuation]] = [:]
    }

    private let waiters = NIOLockedValueBox(Waiters())
    /// Counts changes, each of very many transactions' together: that one's answer is read anew when another changes
    /// does no harm, and the memory is bounded.
    private let versions = NIOLockedValueBox([UInt64](repeating: 0, count: slotCount))

    private static let slotCount = 1024

    package init() {}

    /// A subscription to one transaction. Subscribe first, then read: what happens in between is not lost.
    ///
    /// The stream keeps one unread change, however many there were.
    package func changes(of key: Transaction.Key) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = waiters.withLockedValue { waiters in
            waiters.next += 1
            waiters.byKey[key, default: [:]][waiters.next] = continuation
            return waiters.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.waiters.withLockedValue { waiters in
                waiters.byKey[key]?[number] = nil
                if waiters.byKey[key]?.isEmpty == true { waiters.byKey[key] = nil }
            }
        }
        return stream
    }

    /// Another number after every change of the transaction. What was read after the number was taken, is as it says.
    package func version(of key: Transaction.Key) -> UInt64 {
        versions.withLockedValue { $0[Self.slot(of: key)] }
    }

    private static func slot(of key: Transaction.Key) -> Int {
        Int(UInt(bitPattern: key.hashValue) % UInt(slotCount))
    }

    /// The transaction has changed, and the change is stored.
    package func post(_ key: Transaction.Key) {
        versions.withLockedValue { $0[Self.slot(of: key)] += 1 }
        wake(key)
    }

    /// Makes those who wait for the transaction look again, though its results are as they were.
    package func wake(_ key: Transaction.Key) {
        let continuations = waiters.withLockedValue { $0.byKey[key].map { Array($0.values) } ?? [] }
        for continuation in continuations { continuation.yield() }
    }

    /// How many wait now.
    package var waiterCount: Int { waiters.withLockedValue { $0.byKey.values.reduce(0) { $0 + $1.count } } }
}
