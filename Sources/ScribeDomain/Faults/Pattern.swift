/// Pattern of a text, in which `*` stands for any characters.
package struct Pattern: Hashable, Sendable {
    package let text: String
    /// Parts of the text between the asterisks, as bytes.
    private let parts: [[UInt8]]

    package init(_ text: String) {
        self.text = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
    }

    /// Whether a whole text fits. Takes time in proportion to both lengths at most.
    package func matches(_ other: some StringProtocol) -> Bool {
        let bytes = Array(other.utf8)
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return bytes == parts.first }
        guard bytes.count >= first.count + last.count, bytes.starts(with: first), bytes.suffix(last.count) == last[...]
        else { return false }
        var rest = bytes.dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }
}
