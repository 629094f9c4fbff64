import ScribeDomain

/// How much memory all bodies together may take that are held as a whole, in bytes. What is streamed takes none of it.
package final class BodyBudget: Sendable {
    private let limit: Int
    private let taken = LockedValue(0)

    package init(limit: Int) { self.limit = limit }

    /// Whether hardly anything is left.
    var isUsedUp: Bool { limit - taken.withLock(\.self) < limit / 16 }

    fileprivate func take(_ count: Int) -> Bool {
        taken.withLock { taken in
            guard count <= limit - taken else { return false }
            taken += count
            return true
        }
    }

    fileprivate func giveBack(_ count: Int) { taken.withLock { $0 -= count } }
}

/// What one request has of the budget. It ends with the request.
package final class BodyShare: Sendable {
    private let budget: BodyBudget
    private let taken = LockedValue(0)

    package init(of budget: BodyBudget) { self.budget = budget }

    deinit { budget.giveBack(taken.withLock { $0 }) }

    /// Takes more of it.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)`` when others have the rest.
    package func take(_ count: Int) throws(HTTPProblem) {
        guard budget.take(count) else { throw .busy(retryAfter: 1) }
        taken.withLock { $0 += count }
    }
}
