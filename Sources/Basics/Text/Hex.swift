/// Encoder and decoder of hexadecimal text; the encoder writes lower case.
package enum Hex {
    /// Encodes bytes as lower-case hexadecimal text.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes)) }

    private static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text.initializeElement(at: 2 * index, to: digit(byte >> 4))
                text.initializeElement(at: 2 * index + 1, to: digit(byte & 15))
            }
            return 2 * bytes.count
        }
    }

    /// The digit of a value from 0 to 15, in lower case.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Decodes hexadecimal text of lower or upper case; nil for any other text.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(digits: Array(text.utf8)) }

    private static func decode(digits: [UInt8]) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for position in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[position]), let low = value(digits[position + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Value of one hexadecimal digit, 0 to 15, in lower or upper case; nil for any other byte.
    package static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
