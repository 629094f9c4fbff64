/// ASCII classes of a byte. A Swift `Character` costs some hundred instructions to find, and `Character.isNumber` also
/// accepts digits of other scripts.
extension UInt8 {
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    @inlinable package var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// Whether the byte may stand in identifiers: letter, digit, `-` or `_`.
    @inlinable package var isInIdentifier: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}

extension Collection<UInt8> {
    /// Number in a text of decimal digits; nil for any other text, an empty text, and numbers above `Int.max`.
    @inlinable package var number: Int? {
        guard !isEmpty, allSatisfy(\.isDigit) else { return nil }
        return Int(String(decoding: self, as: UTF8.self))
    }
}
