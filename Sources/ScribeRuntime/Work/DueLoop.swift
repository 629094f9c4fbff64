import Foundation
import ScribeDomain

/// Timer loop for work that is due at a stored time. No timer runs while no work will be due.
struct DueLoop: Sendable {
    /// Wakes the loop when work may be due earlier than the next known time.
    let bell: JobBell
    let clock: WorldClock

    /// The longest sleep before the next work. The machine's clock may be set forward meanwhile.
    private static let longest: Duration = .seconds(60)

    /// Runs until its task is cancelled.
    /// - Parameter work: does the work that is due, and returns the time of the next work. A past time repeats at once;
    ///   nil waits for the bell.
    func run(_ work: () async -> Date?) async {
        while !Task.isCancelled {
            let pause = await work().map { min(Self.longest, .seconds($0.timeIntervalSince(clock.now))) }
            if let pause, pause <= .zero { continue }
            _ = try? await bell.wait(atMost: pause, clock: clock)
        }
    }
}
