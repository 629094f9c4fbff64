import Basics
package import Foundation

extension Date {
    /// The date in ISO 8601, UTC, without fractional seconds (C-100).
    package var apiTime: String { iso8601 }
}
