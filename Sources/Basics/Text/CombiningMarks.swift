/// Detector of long runs of combining marks.
///
/// Swift sorts each run of marks whenever it compares or hashes a text. The time grows with the square of the run's
/// length: a key of a megabyte of marks would hold a thread for minutes.
package enum CombiningMarks {
    /// Longest accepted run of marks: Unicode's limit for stream-safe text (UAX #15), beyond any language's need.
    private static let longestRun = 30

    /// Whether a text has more than 30 combining marks in a row, as UTF-8 or as JSON escapes (`\\u0301`).
    package static func areTooMany(in bytes: some Collection<UInt8>) -> Bool {
        EventLoopOffload.watch(bytes: bytes.count, of: "combining marks")
        return bytes.withContiguousStorageIfAvailable(areTooMany(in:))
            ?? Array(bytes).withUnsafeBufferPointer(areTooMany(in:))
    }

    private static func areTooMany(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        // Fast path for headers: hardly any has a byte that begins a mark or an escape (0xCC leads U+0300).
        let start = plainLength(of: bytes)
        guard let first = bytes[start...].firstIndex(where: { $0 >= 0xCC || $0 == UInt8(ascii: "\\") }) else {
            return false
        }
        var run = 0
        var scalars = Scalars(bytes: bytes[first...].makeIterator())
        while let scalar = scalars.next() {
            // No scalar below U+0300 is a combining mark.
            if scalar.value < 0x300 || scalar.properties.canonicalCombiningClass == .notReordered {
                run = 0
            } else {
                run += 1
                if run > longestRun { return true }
            }
        }
        return false
    }

    /// Number of bytes at the beginning, in steps of eight, that are ASCII without a backslash.
    private static func plainLength(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let bytes = UnsafeRawBufferPointer(bytes)
        let (ones, highBits): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var length = 0
        while length + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: length, as: UInt64.self)
            // A byte that is zero here is a backslash there. With all high bits clear the subtraction finds it.
            let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
            guard (word | (backslashes &- ones) & ~backslashes) & highBits == 0 else { break }
            length += 8
        }
        return length
    }

    /// Decodes the scalars of UTF-8 text; a JSON escape counts as the scalar that it stands for.
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

        /// Decodes four hex digits after `\\u`. Any other escape becomes a space.
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
            // Half a surrogate pair counts as a space: only the few marks beyond U+FFFF need a pair.
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
