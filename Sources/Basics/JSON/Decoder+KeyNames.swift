/// Coding key of any name.
private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int? = nil

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension Decoder {
    /// Names of all keys of an object, unknown keys included.
    /// - Throws: `DecodingError` for anything but an object.
    package var keyNames: [String] {
        get throws { try container(keyedBy: AnyKey.self).allKeys.map(\.stringValue) }
    }
}
