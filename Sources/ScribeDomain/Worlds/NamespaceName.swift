/// Name of a namespace: 1 to 63 of `a-z`, `0-9` and `-`.
package struct NamespaceName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name that control calls use for the world of the data folder. No namespace has it.
    package static let ofDefaultWorld = "default"
    private static let markStart = "ns_"

    package let rawValue: String

    /// - Returns: nil for a text that is no name.
    package init?(_ text: some StringProtocol) {
        let isName =
            (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
        guard isName, text != Self.ofDefaultWorld else { return nil }
        rawValue = String(text)
    }

    /// Reads the namespace from a credential that ``mark(_:)`` made.
    /// - Returns: nil for any other text.
    package init?(markedIn credential: String) {
        guard credential.hasPrefix(Self.markStart) else { return nil }
        let rest = credential.utf8.dropFirst(Self.markStart.utf8.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "_")), let name = Self(Substring(rest[..<end])) else {
            return nil
        }
        self = name
    }

    /// A credential of this namespace: `ns_NAME_text`. Names have no `_`, so that the name ends at the next one.
    package func mark(_ text: String) -> String { "\(Self.markStart)\(rawValue)_\(text)" }

    /// First part of the paths that lead to this namespace: `/ns/NAME`.
    package var path: String { "/ns/\(rawValue)" }

    package var description: String { rawValue }

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

extension NamespaceName? {
    /// A credential of a namespace; for the default world the text itself.
    package func mark(_ text: String) -> String { self?.mark(text) ?? text }
}
