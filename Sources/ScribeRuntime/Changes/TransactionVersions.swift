import Basics
package import ScribeDomain

/// Counts the changes of transactions, in 1,024 hash slots, which bounds the memory. A collision costs one extra read.
package final class TransactionVersions: Sendable {
    private static let slotCount = 1024
    private let versions = LockedValue([UInt64](repeating: 0, count: slotCount))

    /// A number that differs after every change of the transaction. A value that was read after the number is valid as
    /// long as the number is the same.
    package subscript(key: Transaction.Key) -> UInt64 { versions.withLock { $0[Self.slot(of: key)] } }

    /// The number of changes so far, of all transactions together.
    package var changeCount: UInt64 { versions.withLock { $0.reduce(0, &+) } }

    /// Counts a change of a transaction.
    func count(_ key: Transaction.Key) { versions.withLock { $0[Self.slot(of: key)] += 1 } }

    private static func slot(of key: Transaction.Key) -> Int {
        Int(UInt(bitPattern: key.hashValue) % UInt(slotCount))
    }
}
