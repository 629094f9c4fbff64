/// Pattern of a text, in which `*` stands for any characters.
package struct Pattern: Hashable, Sendable {
    package let text: String
    /// Parts of the text between the asterisks, as bytes.
    private let parts: [[UInt8]]

    package init(_ text: String) {
        self.text = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether a whole text fits. Takes time in proportion to the sum of both lengths.
    package func matches(_ other: some StringProtocol) -> Bool {
        let bytes = Array(other.utf8)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return bytes == parts.first }
        guard bytes.count >= first.count + last.count, bytes.starts(with: first), bytes.suffix(last.count) == last[...]
        else { return false }
        var rest = bytes.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let end = Self.end(of: part, in: rest) else { return false }
            rest = rest[end...]
        }
        return true
    }

    /// Whether a text fits of which only the beginning is known; nil if the rest, which is not empty, decides.
    package func matches(beginning: some StringProtocol) -> Bool? {
        let bytes = Array(beginning.utf8)
        guard let first = parts.first, bytes.starts(with: first.prefix(bytes.count)) else { return false }
        guard let last = parts.last, parts.count > 1 else { return bytes.count < first.count ? nil : false }
        return last.isEmpty && matches(beginning) ? true : nil
    }

    /// Index after the first place where a part stands; nil without one. The search is Knuth, Morris and Pratt's.
    private static func end(of part: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var borders = [0]
        var length = 0
        func advance(to byte: UInt8) {
            while length > 0, length == part.count || part[length] != byte { length = borders[length - 1] }
            if part[length] == byte { length += 1 }
        }
        for byte in part.dropFirst() {
            advance(to: byte)
            borders.append(length)
        }
        length = 0
        for (index, byte) in zip(bytes.indices, bytes) {
            advance(to: byte)
            if length == part.count { return index + 1 }
        }
        return nil
    }
}
