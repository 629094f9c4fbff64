import Foundation
package import ScribeDomain

/// Ends a socket over which nothing comes that a family takes for a sign of life.
package final class IdleWatch: Sendable {
    private let clock: WallClock
    private let limit: Duration
    private let closure: WebSocketClosure
    private let count = LockedValue((messages: 0, last: Date.distantPast, hasEnded: false, busy: 0))

    /// - Parameter closure: with what it ends.
    package init(clock: WallClock, limit: Duration, closure: WebSocketClosure) {
        self.clock = clock
        self.limit = limit
        self.closure = closure
        heard()
    }

    package func heard() {
        let now = clock.now
        count.withLock {
            $0.messages += 1; $0.last = now
        }
    }

    /// Nothing more will be heard, and nobody minds.
    package func end() { count.withLock { $0.hasEnded = true } }

    /// Does something for which the other side waits: meanwhile its silence counts for nothing.
    package func whileBusy<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        count.withLock { $0.busy += 1 }
        defer {
            count.withLock { $0.busy -= 1 }
            heard()
        }
        return try await body()
    }

    /// - Throws: ``WebSocketClosure`` when nothing was heard for too long, `CancellationError`.
    package func watch() async throws -> WebSocketClosure {
        while true {
            let before = count.withLock { $0 }
            // Not beyond the limit, whatever was done to the clock.
            let passed = max(0, clock.now.timeIntervalSince(before.last))
            let left = before.hasEnded || before.busy > 0 ? limit : max(.milliseconds(1), limit - .seconds(passed))
            try await clock.sleep(for: left, as: .socketIdle)
            guard count.withLock({ $0.messages == before.messages && !$0.hasEnded && $0.busy == 0 }) else { continue }
            throw closure
        }
    }
}
