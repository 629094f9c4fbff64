package import Foundation

/// The one source of identifiers and randomness. Secrets never come from a seeded source.
package struct IdentifierSource: Sendable {
    private let makeUUID: @Sendable () -> UUID
    private let makeBytes: @Sendable (Int) -> [UInt8]

    /// - Parameters:
    ///   - uuid: a fresh UUID on every call.
    ///   - bytes: that many bytes fit for secrets.
    package init(
        uuid: @escaping @Sendable () -> UUID,
        bytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.makeUUID = uuid
        self.makeBytes = bytes
    }

    /// A fresh UUID in lower case.
    package func uuid() -> String { makeUUID().uuidString.lowercased() }

    package func bytes(_ count: Int) -> [UInt8] { makeBytes(count) }
}
