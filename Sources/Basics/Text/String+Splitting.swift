import Foundation

/// Splitting of text by bytes. The standard library's `split` compares characters, at some hundred instructions each,
/// and misses a separator before a combining mark.
extension Substring {
    /// Splits the text at an ASCII character.
    package func split(
        ascii separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences omitsEmpty: Bool = true
    ) -> [Substring] {
        let separator = UInt8(ascii: separator)
        return utf8.withContiguousStorageIfAvailable { bytes in
            parts(of: bytes, maxSplits, omitsEmpty) { bytes.firstIndex(of: separator, from: $0) }
        }
            ?? utf8.split(separator: separator, maxSplits: maxSplits, omittingEmptySubsequences: omitsEmpty)
            .map(Substring.init)
    }

    /// Whether the text contains an ASCII character.
    package func contains(ascii character: Unicode.Scalar) -> Bool {
        let byte = UInt8(ascii: character)
        return utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: byte, from: 0) != nil } ?? utf8.contains(byte)
    }

    /// Words separated by white space.
    package var words: [Substring] {
        asciiParts { $0 == 0x20 || (0x09...0x0D).contains($0) } ?? split(whereSeparator: \.isWhitespace)
    }

    /// Lines of the text, without empty ones.
    package var lines: [Substring] {
        asciiParts { (0x0A...0x0D).contains($0) } ?? split(whereSeparator: \.isNewline)
    }

    /// Splits an ASCII text at matching bytes; nil if the text has other bytes.
    private func asciiParts(between isSeparator: (UInt8) -> Bool) -> [Substring]? {
        utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return parts(of: bytes, .max, true) { bytes[$0...].firstIndex(where: isSeparator) }
        } ?? nil
    }

    /// Splits bytes at the separators that a function finds.
    /// - Parameters:
    ///   - bytes: UTF-8 bytes of this text.
    ///   - separator: returns the position of the next separator at or after a position.
    private func parts(
        of bytes: UnsafeBufferPointer<UInt8>, _ maxSplits: Int, _ omitsEmpty: Bool, separator: (Int) -> Int?
    ) -> [Substring] {
        var parts: [Substring] = []
        parts.reserveCapacity(4)
        var splits = 0
        var (start, from) = (startIndex, 0)
        while splits < maxSplits, let position = separator(from) {
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

extension UnsafeBufferPointer<UInt8> {
    /// Index of a byte at or after another index, by the C library, which looks at many bytes at a time.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let first = baseAddress, let found = memchr(first + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(first)
    }
}

extension String {
    /// Whether the text contains an ASCII character.
    package func contains(ascii character: Unicode.Scalar) -> Bool { self[...].contains(ascii: character) }

    /// Splits the text at an ASCII character, as ``Substring/split(ascii:maxSplits:omittingEmptySubsequences:)``.
    package func split(
        ascii separator: Unicode.Scalar, maxSplits: Int = .max, omittingEmptySubsequences omitsEmpty: Bool = true
    ) -> [Substring] {
        self[...].split(ascii: separator, maxSplits: maxSplits, omittingEmptySubsequences: omitsEmpty)
    }

    /// Words separated by white space.
    package var words: [Substring] { self[...].words }

    /// Lines of the text, without empty ones.
    package var lines: [Substring] { self[...].lines }
}
