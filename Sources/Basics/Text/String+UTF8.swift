extension String {
    /// Text of UTF-8 bytes; nil for other bytes.
    ///
    /// `String(validating:as:)` says the same of ASCII at ten times the cost of a short text.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            self.init(decoding: bytes, as: UTF8.self)
        } else {
            self.init(validating: bytes, as: UTF8.self)
        }
    }
}
