package import Foundation

/// Identifiers in the order of their time: 48 bits of milliseconds and 80 of randomness, in Crockford's base 32.
package enum ULID {
    /// - Parameter randomness: ten bytes.
    package static func text(at time: Date, _ randomness: [UInt8]) -> String {
        let milliseconds = UInt64(min(max(0, time.timeIntervalSince1970 * 1000), 281_474_976_710_655))
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) } + randomness.prefix(10)
        // 128 bits are two fewer than 26 digits hold.
        return Base32.encode(bytes, .crockford, after: 2)
    }
}
