import Basics
import Hummingbird
package import HummingbirdCore
package import ScribeDomain

extension Request {
    /// The query, decoded as forms encode it: a plus is a space (streaming.md 1.1).
    package var query: FlatDictionary<Substring, Substring> {
        guard let query = uri.query, query.utf8.contains(UInt8(ascii: "+")) else { return uri.queryParameters }
        return FlatDictionary(
            query.split(ascii: "&").map { part in
                let words = part.split(ascii: "=", maxSplits: 1, omittingEmptySubsequences: false)
                func decoded(_ word: Substring) -> Substring {
                    let plain = word.replacing("+", with: " ")
                    return PercentEncoding.decode(String(plain)).map { $0[...] } ?? plain
                }
                return (decoded(words[0]), words.count > 1 ? decoded(words[1]) : "")
            })
    }
}

extension FlatDictionary<Substring, Substring> {
    /// The value of a parameter; nil if absent or empty.
    package func text(_ name: String) -> String? {
        self[name[...]].flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// The integer value of a parameter; nil if absent.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for an empty or non-numeric value, or one out of range.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(ScribeError) -> Int? {
        guard let value = self[name[...]] else { return nil }
        guard let number = Int(value), range.contains(number) else {
            throw .invalidRequest(
                field: name, problem: "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
