/// Base32 encoder without padding: five bits per digit.
package enum Base32 {
    package enum Alphabet: String, Sendable {
        /// Alphabet of RFC 4648, used by AWS access key ids.
        case standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        /// Alphabet of Crockford, in the order of its digits, used by ULIDs.
        case crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    }

    /// Encodes bytes as base32 digits, without padding. Bits that do not fill the last digit are dropped.
    /// - Parameter zeros: zero bits before the first byte, 0 to 4.
    package static func encode(_ bytes: [UInt8], _ alphabet: Alphabet = .standard, after zeros: Int = 0) -> String {
        let digits = Array(alphabet.rawValue.utf8)
        var text: [UInt8] = []
        var buffer = 0
        var bits = zeros
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                text.append(digits[buffer >> bits & 31])
            }
            buffer &= (1 << bits) - 1
        }
        return String(decoding: text, as: UTF8.self)
    }
}
