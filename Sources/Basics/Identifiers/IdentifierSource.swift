package import Foundation

/// Source of all identifiers and random bytes. Secrets never come from a seeded source.
package struct IdentifierSource: Sendable {
    private let makeUUID: @Sendable () -> UUID
    private let makeOrderedUUID: @Sendable () -> UUID
    private let makeBytes: @Sendable (Int) -> [UInt8]

    /// Creates a source from two generators.
    /// - Parameters:
    ///   - uuid: returns a fresh UUID on every call.
    ///   - orderedUUID: the same, each behind those of earlier milliseconds; nil for `uuid`.
    ///   - bytes: returns the requested number of bytes, fit for secrets.
    package init(
        uuid: @escaping @Sendable () -> UUID, orderedUUID: (@Sendable () -> UUID)? = nil,
        bytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.makeUUID = uuid
        makeOrderedUUID = orderedUUID ?? uuid
        self.makeBytes = bytes
    }

    /// Returns a fresh UUID in lower case.
    package func uuid() -> String { Self.text(makeUUID()) }

    /// Returns a fresh UUID in lower case that begins with the time: a database adds it to the end of its index.
    package func orderedUUID() -> String { Self.text(makeOrderedUUID()) }

    private static func text(_ id: UUID) -> String {
        // `uuidString` formats each digit by `snprintf`.
        withUnsafeBytes(of: id.uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    (text[position], text[position + 1]) = (Hex.digit(byte >> 4), Hex.digit(byte & 15))
                    position += 2
                }
                return position
            }
        }
    }

    /// Returns random bytes, fit for secrets.
    package func bytes(_ count: Int) -> [UInt8] { makeBytes(count) }
}
