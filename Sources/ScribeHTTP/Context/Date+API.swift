package import Foundation

extension Date {
    /// ISO 8601 in UTC, without fractions of a second (C-100).
    package var apiTime: String { formatted(.iso8601) }
}
