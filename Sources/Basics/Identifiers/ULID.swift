package import Foundation

/// ULID generator: sortable ids of 48 bits of milliseconds and 80 random bits, in Crockford's base32.
package enum ULID {
    /// Creates a ULID of 26 digits.
    /// - Parameter randomness: ten random bytes.
    package static func text(at time: Date, _ randomness: [UInt8]) -> String {
        let milliseconds = UInt64(saturating: min(max(0, time.timeIntervalSince1970 * 1000), 281_474_976_710_655))
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) } + randomness.prefix(10)
        // 26 digits hold 130 bits, two more than the id.
        return Base32.encode(bytes, .crockford, after: 2)
    }
}
