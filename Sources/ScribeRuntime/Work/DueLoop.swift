import Foundation
import ScribeDomain

/// Timer loop for work that is due at a stored time. No timer runs while no work will be due.
struct DueLoop: Sendable {
    /// Wakes the loop when work may be due earlier than the next known time.
    let wakeup: Wakeup
    let clock: WorldClock

    /// Longest sleep on the machine's clock, because that clock may be set forward during a sleep.
    private static let longest: Duration = .seconds(60)

    /// Runs until its task is cancelled.
    /// - Parameter work: does the work that is due, and returns the time of the next work. A past time repeats at once;
    ///   nil waits for a wake-up.
    func run(_ work: () async -> Date?) async {
        while !Task.isCancelled {
            let next = await work()
            if let next, next <= clock.now { continue }
            _ = try? await wakeup.wait(until: next, atMostByMachine: Self.longest, clock: clock)
        }
    }
}
