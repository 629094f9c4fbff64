import ScribeDomain

/// One range of something stored that a `Range` header asks for.
package struct ByteRange: Hashable, Sendable {
    /// No byte is in it.
    package struct Unsatisfiable: Error {}

    package let bytes: ClosedRange<Int>

    /// Reads `bytes=0-9`, `bytes=10-` and `bytes=-5`. Nil for what S3 ignores: other units and several ranges.
    package init?(_ text: String, of size: Int) throws(Unsatisfiable) {
        guard text.hasPrefix("bytes=") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
        // A number that is too large for us is beyond everything.
        func number(_ digits: Substring) -> Int? { digits.isEmpty ? nil : Int(digits) ?? .max }
        switch (number(parts[0]), number(parts[1])) {
        case (let first?, let last):
            if let last, last < first { return nil }
            guard first < size else { throw Unsatisfiable() }
            bytes = first...min(last ?? size - 1, size - 1)
        case (nil, let suffix?):
            guard suffix > 0, size > 0 else { throw Unsatisfiable() }
            bytes = max(0, size - suffix)...(size - 1)
        case (nil, nil):
            return nil
        }
    }

    /// As the answer's header has it.
    package func contentRange(of size: Int) -> String { "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(size)" }
}
