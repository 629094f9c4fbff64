/// Numbers as clients send them. Whatever they are, what comes out of here can be added, negated and multiplied by a
/// thousand without a trap.
extension KeyedDecodingContainer {
    /// An integer between -2^53 and 2^53, where JSON's numbers are exact; `3.0` is one.
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
