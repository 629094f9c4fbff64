import Foundation
import ScribeDomain

/// Timer loop for work that is due at a stored time. No timer runs while no work will be due.
struct DueLoop: Sendable {
    /// Inbox that wakes the loop when work may be due earlier than the next known time.
    let inbox: JobInbox
    let clock: WorldClock

    /// Longest sleep before the next work, because the machine's clock may be set forward during a sleep.
    private static let longest: Duration = .seconds(60)

    /// Runs until its task is cancelled.
    /// - Parameter work: does the work that is due, and returns the time of the next work. A past time repeats at once;
    ///   nil waits for the inbox.
    func run(_ work: () async -> Date?) async {
        while !Task.isCancelled {
            let pause = await work().map { min(Self.longest, .seconds($0.timeIntervalSince(clock.now))) }
            if let pause, pause <= .zero { continue }
            _ = try? await inbox.wait(atMost: pause, clock: clock)
        }
    }
}
