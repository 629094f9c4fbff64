package import Basics
import Foundation

/// Real sources of time and randomness. The rest of the program gets them injected.
extension WallClock {
    /// The machine's clock.
    package static var system: WallClock {
        WallClock(now: { Date() }, sleep: { duration, _ in try await Task.sleep(for: duration) })
    }
}

extension IdentifierSource {
    /// The machine's random number generator.
    package static var random: IdentifierSource {
        IdentifierSource(
            uuid: { randomUUID() },
            orderedUUID: { orderedUUID(at: Date()) },
            bytes: { count in
                var generator = SystemRandomNumberGenerator()
                var bytes: [UInt8] = []
                // Each call asks the system.
                while bytes.count < count { withUnsafeBytes(of: generator.next()) { bytes += $0 } }
                return Array(bytes.prefix(count))
            }
        )
    }

    /// A random UUID of version 4. Foundation's `UUID()` reads `/dev/urandom` without a check: it returns the same id
    /// each time when the process has no file descriptor left.
    private static func randomUUID() -> UUID {
        var generator = SystemRandomNumberGenerator()
        return uuid(generator.next(), version: 4, generator.next())
    }

    /// A UUID of version 7: 48 bits of milliseconds since 1970, and 74 random bits.
    private static func orderedUUID(at time: Date) -> UUID {
        var generator = SystemRandomNumberGenerator()
        let milliseconds = UInt64(saturating: max(0, time.timeIntervalSince1970 * 1000))
        return uuid(milliseconds << 16 | generator.next() >> 48, version: 7, generator.next())
    }

    private static func uuid(_ first: UInt64, version: UInt64, _ second: UInt64) -> UUID {
        let halves = (first & ~0xF000 | version << 12, second & ~(0b11 << 62) | 0b10 << 62)
        return withUnsafeBytes(of: (halves.0.bigEndian, halves.1.bigEndian)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
