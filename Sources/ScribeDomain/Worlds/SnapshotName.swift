import Basics

/// Name of a snapshot: 1 to 64 of letters, digits, `.`, `_` and `-`, and no `.` at its beginning.
package struct SnapshotName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// - Returns: nil for a text that is no name.
    package init?(_ text: some StringProtocol) {
        let isName =
            (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.utf8.allSatisfy { $0.isInIdentifier || $0 == UInt8(ascii: ".") }
        guard isName else { return nil }
        rawValue = String(text)
    }

    package var description: String { rawValue }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
