import Foundation

extension Substring {
    /// Text without white space at both ends. Line breaks stay.
    package var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
