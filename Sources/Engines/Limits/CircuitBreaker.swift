import Basics
package import Foundation

/// Circuit breaker: blocks a service for a while after several failures in a row, then lets one probe through.
package final class CircuitBreaker: Sendable {
    private struct State {
        var failures = 0
        var openUntil: Date?
        var isProbing = false
    }

    private let failuresToOpen: Int
    private let openTime: TimeInterval
    private let state = LockedValue(State())

    /// Creates a closed circuit.
    /// - Parameters:
    ///   - failuresToOpen: number of failures in a row that open the circuit.
    ///   - openTime: time for which an open circuit blocks the service, in seconds.
    package init(failuresToOpen: Int, openTime: TimeInterval) {
        self.failuresToOpen = failuresToOpen
        self.openTime = openTime
    }

    /// Asks for permission to use the service.
    /// - Returns: nil if permitted, otherwise the seconds until the next try.
    package func admit(at now: Date) -> TimeInterval? {
        state.withLock { state in
            guard let until = state.openUntil else { return nil }
            if now < until { return until.timeIntervalSince(now) }
            if state.isProbing { return openTime }
            state.isProbing = true
            return nil
        }
    }

    /// Seconds for which the circuit stays open; nil if it is closed.
    package func timeLeft(at now: Date) -> TimeInterval? {
        state.withLock { $0.openUntil.map { max(0, $0.timeIntervalSince(now)) } }
    }

    /// Whether the last conclusive use of the service failed.
    package var hasFailed: Bool { state.withLock { $0.failures > 0 } }

    package func succeeded() { state.withLock { $0 = State() } }

    package func failed(at now: Date) {
        state.withLock { state in
            state.failures += 1
            state.isProbing = false
            if state.failures >= failuresToOpen { state.openUntil = now.addingTimeInterval(openTime) }
        }
    }

    /// Ends a use that said nothing about the service's health.
    package func released() { state.withLock { $0.isProbing = false } }
}
