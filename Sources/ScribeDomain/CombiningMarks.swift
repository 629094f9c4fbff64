/// Marks that go with the letter before them. Swift sorts each run of them whenever it compares texts or looks one up,
/// which takes the square of its length: a key of a megabyte of them would hold a thread for minutes.
package enum CombiningMarks {
    /// The longest run that any language needs, as Unicode's own limit has it (UAX #15, stream-safe text).
    private static let longestRun = 30

    /// Whether there are too many in a row, as UTF-8 or as JSON escapes (`\\u0301`).
    package static func areTooMany(in bytes: some Collection<UInt8>) -> Bool {
        LongWork.watch(bytes: bytes.count, of: "combining marks")
        return bytes.withContiguousStorageIfAvailable(areTooMany(in:))
            ?? Array(bytes).withUnsafeBufferPointer(areTooMany(in:))
    }

    private static func areTooMany(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Every header passes here, and hardly any has a byte that a mark or an escape begins with: 0xCC leads U+0300.
        guard let first = bytes.firstIndex(where: { $0 >= 0xCC || $0 == UInt8(ascii: "\\") }) else { return false }
        var run = 0
        var scalars = Scalars(bytes: bytes[first...].makeIterator())
        while let scalar = scalars.next() {
            // Below U+0300 there are none.
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                run = 0
            } else {
                run += 1
                if run > longestRun { return true }
            }
        }
        return false
    }

    /// The scalars of UTF-8, with those that escapes stand for.
    private struct Scalars {
        var bytes: Slice<UnsafeBufferPointer<UInt8>>.Iterator
        private var pending: UInt8?

        init(bytes: Slice<UnsafeBufferPointer<UInt8>>.Iterator) { self.bytes = bytes }

        mutating func next() -> Unicode.Scalar? {
            guard let byte = nextByte() else { return nil }
            if byte == UInt8(ascii: "\\") { return escape() }
            if byte < 0x80 { return Unicode.Scalar(byte) }
            return sequence(from: byte)
        }

        private mutating func nextByte() -> UInt8? {
            defer { pending = nil }
            return pending ?? bytes.next()
        }

        /// Four hex digits behind `\\u`; anything else is passed over.
        private mutating func escape() -> Unicode.Scalar {
            guard let kind = nextByte(), kind == UInt8(ascii: "u") else { return " " }
            var value: UInt32 = 0
            for _ in 0..<4 {
                guard let byte = nextByte() else { return " " }
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                    pending = byte
                    return " "
                }
                value = value << 4 | UInt32(digit)
            }
            // Half a pair: those that are marks are few, and none of them is written so.
            return Unicode.Scalar(value) ?? " "
        }

        private mutating func sequence(from first: UInt8) -> Unicode.Scalar {
            let length = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1
            var value = UInt32(first) & (length == 3 ? 0x07 : length == 2 ? 0x0F : 0x1F)
            for _ in 0..<length {
                guard let byte = nextByte() else { return " " }
                guard byte & 0xC0 == 0x80 else {
                    pending = byte
                    return " "
                }
                value = value << 6 | UInt32(byte & 0x3F)
            }
            return Unicode.Scalar(value) ?? " "
        }
    }
}
