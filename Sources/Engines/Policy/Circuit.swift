package import Foundation
import ScribeDomain

/// Leaves a service alone for a while after it has failed several times in a row; then one recognition tries it.
package final class Circuit: Sendable {
    private struct State {
        var failures = 0
        var openUntil: Date?
        var isProbing = false
    }

    private let failuresToOpen: Int
    private let openTime: TimeInterval
    private let state = LockedValue(State())

    /// - Parameter openTime: in seconds.
    package init(failuresToOpen: Int, openTime: TimeInterval) {
        self.failuresToOpen = failuresToOpen
        self.openTime = openTime
    }

    /// Asks to use the service.
    /// - Returns: nil when it may be used, else the seconds after which it may be.
    package func admit(at now: Date) -> TimeInterval? {
        state.withLock { state in
            guard let until = state.openUntil else { return nil }
            if now < until { return until.timeIntervalSince(now) }
            if state.isProbing { return openTime }
            state.isProbing = true
            return nil
        }
    }

    /// The seconds for which it stays open, nil when it is closed.
    package func timeLeft(at now: Date) -> TimeInterval? {
        state.withLock { $0.openUntil.map { max(0, $0.timeIntervalSince(now)) } }
    }

    /// Whether the last use that told something of the service has failed.
    package var hasFailed: Bool { state.withLock { $0.failures > 0 } }

    package func succeeded() { state.withLock { $0 = State() } }

    package func failed(at now: Date) {
        state.withLock { state in
            state.failures += 1
            state.isProbing = false
            if state.failures >= failuresToOpen { state.openUntil = now.addingTimeInterval(openTime) }
        }
    }

    /// The use ended without a word about the service.
    package func released() { state.withLock { $0.isProbing = false } }
}
