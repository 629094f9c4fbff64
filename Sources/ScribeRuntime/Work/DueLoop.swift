import Foundation
import ScribeDomain

/// Does what falls due by time alone, at its time. While nothing will fall due no timer stands.
struct DueLoop: Sendable {
    /// Rings when something may fall due sooner than what is next.
    let bell: JobBell
    let clock: WorldClock

    /// The longest sleep while something will fall due: the machine's clock may be set forward meanwhile.
    private static let longest: Duration = .seconds(60)

    /// Runs until its task is cancelled.
    /// - Parameter work: does what is due, and says when to look again: nil for when the bell rings, a time that has come
    ///   for at once.
    func run(_ work: () async -> Date?) async {
        while !Task.isCancelled {
            let pause = await work().map { min(Self.longest, .seconds($0.timeIntervalSince(clock.now))) }
            if let pause, pause <= .zero { continue }
            _ = try? await bell.wait(atMost: pause, clock: clock)
        }
    }
}
