/// Name of a snapshot: 1 to 64 of letters, digits, `.`, `_` and `-`, and no `.` at its beginning.
package struct SnapshotName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let rawValue: String

    /// - Returns: nil for a text that is no name.
    package init?(_ text: some StringProtocol) {
        let isName =
            (1...64).contains(text.utf8.count) && !text.hasPrefix(".")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName else { return nil }
        rawValue = String(text)
    }

    package var description: String { rawValue }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
