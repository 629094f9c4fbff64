import Basics
import Foundation
import ScribeDomain
import ScribeRuntime

/// Time by the clock of a rule, which stays the message's clock when the rule is gone.
struct DueTime: Sendable {
    private let time: Date
    private let world: World
    private let isByWorldClock: Bool

    init(_ time: Date, by world: World, isByWorldClock: Bool) {
        (self.time, self.world, self.isByWorldClock) = (time, world, isByWorldClock)
    }

    /// The present time by the same clock.
    var now: Date { isByWorldClock ? world.runtime.clock.now : world.runtime.clock.wall.now }

    func isSame(as other: DueTime?) -> Bool {
        time == other?.time && world === other?.world && isByWorldClock == other?.isByWorldClock
    }

    /// Waits for the time, or for the end of the world, whose clock may stand still then.
    func wait() async throws {
        let left = time.timeIntervalSince(now)
        guard left > 0 else { return }
        let (clock, time, isByWorldClock) = (world.runtime.clock, time, isByWorldClock)
        try await world.end.shortening {
            if isByWorldClock {
                try await clock.sleep(until: time, as: .fault)
            } else {
                try await clock.wall.sleep(for: .seconds(left), as: .fault)
            }
        }
    }
}
