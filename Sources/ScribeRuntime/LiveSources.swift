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
        var (first, second) = (generator.next(), generator.next())
        first = first & ~0xF000 | 0x4000
        second = second & ~(0b11 << 62) | 0b10 << 62
        return withUnsafeBytes(of: (first.bigEndian, second.bigEndian)) { bytes in
            UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }
}
