package import Basics
import ScribeDomain

/// Decodes members of clients' bodies.
extension KeyedDecodingContainer {
    /// Decodes an integer between −2^53 and 2^53, where JSON numbers are exact; `3.0` counts.
    ///
    /// Such an integer is safe to add, negate and multiply by 1,000 without overflow.
    /// - Throws: `DecodingError`.
    package func decodeInteger(forKey key: Key) throws -> Int {
        let number = try decode(Double.self, forKey: key)
        guard let value = Int(exactly: number), value.magnitude < 1 << 53 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "must be an integer below 2^53")
        }
        return value
    }

    /// Decodes an object that is stored and echoed; nil if absent or null.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for another value.
    package func decodeEcho(forKey key: Key) throws -> JSONValue? {
        try decodeIfPresent(JSONValue.self, forKey: key)?.echoable(as: key.stringValue)
    }

    /// Decodes one of the words; nil if absent or null.
    /// - Throws: ``ScribeError/invalidRequest(field:problem:)`` for another text, `DecodingError`.
    package func decodeWord(forKey key: Key, of words: [String]) throws -> String? {
        guard let word = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard words.contains(word) else {
            throw ScribeError.invalidRequest(
                field: key.stringValue, problem: "must be one of \(words.joined(separator: ", "))")
        }
        return word
    }
}
