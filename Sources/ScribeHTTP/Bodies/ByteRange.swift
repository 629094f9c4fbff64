import Basics

/// Parses a `Range` header with one range, of a stored object or file.
package struct ByteRange: Hashable, Sendable {
    /// The range contains no byte of the object.
    package struct Unsatisfiable: Error {}

    package let bytes: ClosedRange<Int>

    /// Parses `bytes=0-9`, `bytes=10-` and `bytes=-5`; nil for ranges that S3 ignores: other units, several ranges.
    package init?(_ text: String, of size: Int) throws(Unsatisfiable) {
        guard text.hasPrefix("bytes=") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
        // A number beyond `Int` is beyond any object.
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

    /// The value of the answer's `Content-Range` header.
    package func contentRange(of size: Int) -> String { "bytes \(bytes.lowerBound)-\(bytes.upperBound)/\(size)" }
}
