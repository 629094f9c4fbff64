import Basics
package import ScribeDomain

/// Limits open sockets, in total and per business, so that one business cannot take all.
package final class SocketCounts: Sendable {
    package struct Limits: Hashable, Sendable {
        package var most = 1000
        package var maxOfBusiness = 200

        package init() {}
    }

    private let limits: Limits
    private let open = LockedValue<[BusinessID: Int]>([:])

    init(_ limits: Limits) { self.limits = limits }

    /// Takes a place for one socket. The place is given back when the socket ends, or when its last reference goes.
    /// - Throws: ``HTTPProblem/busy(retryAfter:)``.
    package func take(_ business: BusinessID) throws(HTTPProblem) -> SocketPlace {
        let isTaken = open.withLock { open in
            guard open.values.reduce(0, +) < limits.most,
                open[business, default: 0] < limits.maxOfBusiness
            else { return false }
            open[business, default: 0] += 1
            return true
        }
        guard isTaken else { throw .busy(retryAfter: 10) }
        return SocketPlace { [open] in
            open.withLock { open in
                open[business, default: 1] -= 1
                if open[business] == 0 { open[business] = nil }
            }
        }
    }
}

/// A counted place, given back once.
package final class SocketPlace: Sendable {
    private let back: @Sendable () -> Void
    private let isBack = LockedValue(false)

    /// - Parameter back: Gives the place back; called once.
    package init(_ back: @escaping @Sendable () -> Void) { self.back = back }

    deinit { giveBack() }

    package func giveBack() {
        let isFirst = isBack.withLock { isBack in
            defer { isBack = true }
            return !isBack
        }
        if isFirst { back() }
    }
}
