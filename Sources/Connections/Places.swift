import Basics

/// Limited number of places, such as those of open streams.
package final class Places: Sendable {
    private let limit: Int
    private let count = LockedValue(0)

    package init(limit: Int) { self.limit = limit }

    /// Takes a place.
    /// - Returns: false if all are taken.
    package func take() -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    package func give() { count.withLock { $0 -= 1 } }
}
