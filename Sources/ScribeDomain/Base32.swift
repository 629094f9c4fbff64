/// Five bits in each digit.
package enum Base32 {
    package enum Alphabet: String, Sendable {
        /// RFC 4648's, that of AWS access key ids.
        case standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
        /// Crockford's, in the order of its digits: that of ULIDs.
        case crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    }

    /// - Parameter zeros: bits before the first byte's, fewer than five. What is left at the end is no digit.
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
