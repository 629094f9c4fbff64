import Foundation

extension Substring {
    /// Text without white space at both ends. Line breaks stay.
    var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
