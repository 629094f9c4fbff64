import Foundation
package import ScribeDomain

/// The only place where time and chance enter the program.
extension ScribeClock {
    /// The machine's clock.
    package static var system: ScribeClock {
        ScribeClock(now: { Date() }, sleep: { try await Task.sleep(for: $0) })
    }
}

extension IdentifierSource {
    /// The machine's random number generator.
    package static var random: IdentifierSource {
        IdentifierSource(
            uuid: { UUID() },
            bytes: { count in
                var generator = SystemRandomNumberGenerator()
                return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            }
        )
    }
}
