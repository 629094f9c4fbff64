import Hummingbird
package import HummingbirdCore
import ScribeDomain

extension Request {
    /// The query as forms and URL libraries write it: a plus is a space as well (streaming.md 1.1).
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
