/// Percent-encodes and decodes URI components byte by byte, as SigV4 requires.
package enum PercentEncoding {
    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Decodes a text; nil for a broken escape or invalid UTF-8. A `+` stays a `+`.
    package static func decode(_ text: String) -> String? { decode(text[...]) }

    /// Decodes a part of a text; nil for a broken escape or invalid UTF-8. A `+` stays a `+`.
    package static func decode(_ text: Substring) -> String? {
        // Most texts have no escape.
        guard text.contains(ascii: "%") else { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var iterator = text.utf8.makeIterator()
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
        func isKept(_ byte: UInt8) -> Bool {
            byte.isInIdentifier || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
                || keepingSlashes && byte == UInt8(ascii: "/")
        }
        guard !text.utf8.allSatisfy(isKept) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isKept(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
