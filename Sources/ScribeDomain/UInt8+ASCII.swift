/// ASCII classes of a byte. Swift takes some hundred instructions to find a character, and `Character.isNumber` holds
/// for digits of other scripts too.
extension UInt8 {
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    @inlinable package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// Whether identifiers may hold the byte: a letter, a digit, `-` or `_`.
    @inlinable package var isInIdentifier: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}

extension Collection<UInt8> {
    /// The number of a text of decimal digits; nil for any other text, an empty one, and a number above `Int.max`.
    @inlinable package var number: Int? {
        guard !isEmpty, allSatisfy(\.isDigit) else { return nil }
        return Int(String(decoding: self, as: UTF8.self))
    }
}
