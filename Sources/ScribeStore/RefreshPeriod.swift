package import Foundation
package import ScribeDomain

/// From when until when a refresh token is good, by the machine's clock, and how far the world's was ahead of it then.
package struct RefreshPeriod: Sendable {
    package let now: Date
    package let end: Date
    /// In seconds.
    package let offset: TimeInterval

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

    var offsetInMilliseconds: Int64 { Int64((offset * 1000).rounded()) }
}
