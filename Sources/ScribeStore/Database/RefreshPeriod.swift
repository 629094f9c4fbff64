import Basics
package import Foundation
package import ScribeDomain

/// Lifetime of a refresh token by the machine's clock, with the world clock's offset at its start.
package struct RefreshPeriod: Sendable {
    package let now: Date
    package let end: Date
    /// Lead of the world's clock over the machine's clock at the start, in seconds.
    package let offset: TimeInterval

    /// Makes the period of a token that is issued now.
    /// - Parameter lifetime: in seconds.
    package init(lifetime: TimeInterval, by clock: WorldClock) {
        now = clock.wall.now
        end = now.addingTimeInterval(lifetime)
        offset = clock.offset
    }

    package init(now: Date, end: Date, offset: TimeInterval = 0) {
        self.now = now
        self.end = end
        self.offset = offset
    }

    var offsetInMilliseconds: Int64 { Int64(saturating: (offset * 1000).rounded()) }
}
