/// Decodes numbers from clients into a range that is safe to add, negate and multiply by 1,000 without overflow.
extension KeyedDecodingContainer {
    /// Decodes an integer between −2^53 and 2^53, where JSON numbers are exact; `3.0` counts.
    /// - Throws: `DecodingError`.
    package func decodeInteger(forKey key: Key) throws -> Int {
        let number = try decode(Double.self, forKey: key)
        guard let value = Int(exactly: number), value.magnitude < 1 << 53 else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "must be an integer below 2^53")
        }
        return value
    }
}
