package import Foundation

/// Source of all identifiers and random bytes. Secrets never come from a seeded source.
package struct IdentifierSource: Sendable {
    private let makeUUID: @Sendable () -> UUID
    private let makeBytes: @Sendable (Int) -> [UInt8]

    /// Creates a source from two generators.
    /// - Parameters:
    ///   - uuid: returns a fresh UUID on every call.
    ///   - bytes: returns the requested number of bytes, fit for secrets.
    package init(
        uuid: @escaping @Sendable () -> UUID,
        bytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.makeUUID = uuid
        self.makeBytes = bytes
    }

    /// Returns a fresh UUID in lower case.
    package func uuid() -> String {
        // `uuidString` formats each digit by `snprintf`.
        let bytes = withUnsafeBytes(of: makeUUID().uuid, Array.init)
        return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hex.encode(bytes[$0]) }.joined(separator: "-")
    }

    /// Returns random bytes, fit for secrets.
    package func bytes(_ count: Int) -> [UInt8] { makeBytes(count) }
}
