import Foundation
import ScribeDomain

/// Does what falls due by time alone, at its time. While nothing will fall due no timer stands.
struct DueLoop: Sendable {
    /// Rings when something may fall due sooner than what is next.
    let bell: JobBell
    let clock: ScribeClock

    /// The longest sleep: the machine's clock may be set meanwhile.
    private static let longest: Duration = .seconds(3600)

    /// Runs until its task is cancelled.
    /// - Parameter work: does what is due, and says when to look again; nil for when the bell rings.
    func run(_ work: () async -> Date?) async {
        while !Task.isCancelled {
            let pause = await work().map { min(Self.longest, .seconds(max(0, $0.timeIntervalSince(clock.now)))) }
            _ = try? await bell.wait(atMost: pause, clock: clock)
        }
    }
}
