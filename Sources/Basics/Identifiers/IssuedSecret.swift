/// Secret made by this server: 40 lower-case hexadecimal digits, the last eight of which are a checksum.
///
/// The checksum tells a secret wherever it stands, also after a restart and on another server, without a list of the
/// secrets. Deepgram's SDK accepts a key of this form.
package enum IssuedSecret {
    private static let randomBytes = 16
    private static let digits = 40

    /// The secret with these random bytes; those beyond the 16th do not count.
    package static func text(_ random: some Sequence<UInt8>) -> String {
        let bytes = Array(random.prefix(randomBytes))
        return Hex.encode(bytes + checksum(of: bytes[...]))
    }

    /// Place of the first secret in a word; nil for a word without one. Any other 40 digits pass for a secret once in
    /// 2³² times.
    package static func firstRange(in word: ArraySlice<UInt8>) -> Range<Int>? {
        guard word.count >= digits else { return nil }
        var values: [UInt8] = []
        for index in word.indices {
            guard let value = Hex.value(word[index]) else {
                values.removeAll(keepingCapacity: true)
                continue
            }
            values.append(value)
            if values.count >= digits, isSecret(values.suffix(digits)) { return index + 1 - digits..<index + 1 }
        }
        return nil
    }

    private static func isSecret(_ values: ArraySlice<UInt8>) -> Bool {
        let bytes = stride(from: values.startIndex, to: values.endIndex, by: 2).map {
            values[$0] << 4 | values[$0 + 1]
        }
        return checksum(of: bytes.prefix(randomBytes)).elementsEqual(bytes.suffix(4))
    }

    private static func checksum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        let hash = FNV.hash(of: bytes)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: hash >> $0) }
    }
}

extension IdentifierSource {
    /// Returns a new secret: 40 hexadecimal digits.
    package func secret() -> String { IssuedSecret.text(bytes(16)) }
}
