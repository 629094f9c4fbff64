/// Splitting by bytes. The standard library's `split` tells characters from each other first, at some hundred
/// instructions each, and finds no separator that a combining mark follows.
extension Substring {
    /// The parts between an ASCII character.
    package func split(
        ascii separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences omitsEmpty: Bool = true
    ) -> [Substring] {
        let separator = UInt8(ascii: separator)
        return utf8.withContiguousStorageIfAvailable { bytes in
            parts(of: bytes, maxSplits, omitsEmpty) { $0 == separator }
        }
            ?? utf8.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omitsEmpty)
            .map(Substring.init)
    }

    /// The words between white space.
    package var words: [Substring] {
        asciiParts { $0 == 0x20 || (0x09...0x0D).contains($0) } ?? split(whereSeparator: \.isWhitespace)
    }

    /// The lines that are not empty.
    package var lines: [Substring] {
        asciiParts { (0x0A...0x0D).contains($0) } ?? split(whereSeparator: \.isNewline)
    }

    /// Nil where there is more than ASCII.
    private func asciiParts(between isSeparator: (UInt8) -> Bool) -> [Substring]? {
        utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 < 0x80 } ? parts(of: bytes, .max, true, between: isSeparator) : nil
        } ?? nil
    }

    /// - Parameter bytes: its own.
    private func parts(
        of bytes: UnsafeBufferPointer<UInt8>, _ maxSplits: Int, _ omitsEmpty: Bool, between isSeparator: (UInt8) -> Bool
    ) -> [Substring] {
        var parts: [Substring] = []
        parts.reserveCapacity(Swift.min(bytes.count(where: isSeparator), maxSplits) + 1)
        var splits = 0
        var (start, from) = (startIndex, 0)
        for position in bytes.indices where splits < maxSplits && isSeparator(bytes[position]) {
            if position > from || !omitsEmpty {
                parts.append(self[start..<utf8.index(start, offsetBy: position - from)])
                splits += 1
            }
            start = utf8.index(start, offsetBy: position + 1 - from)
            from = position + 1
        }
        if from < bytes.count || !omitsEmpty { parts.append(self[start...]) }
        return parts
    }
}

extension String {
    /// As ``Swift/Substring/split(ascii:maxSplits:omittingEmptySubsequences:)``.
    package func split(
        ascii separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences omitsEmpty: Bool = true
    ) -> [Substring] {
        self[...].split(ascii: separator, maxSplits: maxSplits, omittingEmptySubsequences: omitsEmpty)
    }

    /// The words between white space.
    package var words: [Substring] { self[...].words }

    /// The lines that are not empty.
    package var lines: [Substring] { self[...].lines }
}
