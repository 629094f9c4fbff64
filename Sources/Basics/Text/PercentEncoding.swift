/// Percent-encodes and decodes URI components byte by byte, as SigV4 requires.
package enum PercentEncoding {
    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Decodes a text; nil for a broken escape or invalid UTF-8. A `+` stays a `+`.
    package static func decode(_ text: some StringProtocol) -> String? { decode(Array(text.utf8)) }

    private static func decode(_ text: [UInt8]) -> String? {
        guard text.contains(UInt8(ascii: "%")) else { return text.withUnsafeBufferPointer(String.init(utf8:)) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(Hex.value), let low = iterator.next().flatMap(Hex.value) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes.withUnsafeBufferPointer(String.init(utf8:))
    }

    /// Encodes all bytes but letters, digits and `-_.~`; `/` on request.
    package static func encode(_ text: String, keepingSlashes: Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case _ where byte.isInIdentifier || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~"):
                bytes.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
