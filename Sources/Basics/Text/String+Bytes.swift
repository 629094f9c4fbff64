extension String {
    /// Whether two texts have the same bytes in UTF-8. Texts with other bytes may be equal: one letter can be written
    /// with and without a combining mark.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual: Bool?? = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let first = bytes.baseAddress, let other = others.baseAddress else { return true }
                return memcmp(first, other, bytes.count) == 0
            }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
