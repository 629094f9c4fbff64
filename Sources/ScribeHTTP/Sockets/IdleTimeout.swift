package import Basics
package import Connections
import Foundation

/// Closes a socket that was idle for too long. The socket's family decides which messages count as activity.
package final class IdleTimeout: Sendable {
    private let clock: WallClock
    private let limit: Duration
    private let closure: WebSocketClosure
    private let count = LockedValue((messages: 0, last: Date.distantPast, hasEnded: false, busy: 0))

    /// - Parameter closure: code and reason that the client of an idle socket gets.
    package init(clock: WallClock, limit: Duration, closure: WebSocketClosure) {
        self.clock = clock
        self.limit = limit
        self.closure = closure
        recordActivity()
    }

    package func recordActivity() {
        let now = clock.now
        count.withLock {
            $0.messages += 1; $0.last = now
        }
    }

    /// Ends the timeout: no more messages are expected.
    package func end() { count.withLock { $0.hasEnded = true } }

    /// Runs work that the client waits for. The client's silence meanwhile does not count as idle time.
    package func whileBusy<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        count.withLock { $0.busy += 1 }
        defer {
            count.withLock { $0.busy -= 1 }
            recordActivity()
        }
        return try await body()
    }

    /// Waits until the socket has been idle for too long, and then throws the closure. Never returns a value.
    /// - Throws: ``WebSocketClosure`` or `CancellationError`.
    package func watch() async throws -> WebSocketClosure {
        while true {
            let before = count.withLock { $0 }
            // Never above the limit, even if the clock was set back.
            let passed = max(0, clock.now.timeIntervalSince(before.last))
            let left = before.hasEnded || before.busy > 0 ? limit : max(.milliseconds(1), limit - .seconds(passed))
            try await clock.sleep(for: left, as: .socketIdle)
            guard count.withLock({ $0.messages == before.messages && !$0.hasEnded && $0.busy == 0 }) else { continue }
            throw closure
        }
    }
}
