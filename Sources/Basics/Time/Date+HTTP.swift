package import Foundation

extension Date {
    private static let httpStyle = Date.VerbatimFormatStyle(
        format: """
            \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .extended(minimumLength: 4)) \
            \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\
            \(second: .twoDigits) GMT
            """,
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)
    )

    /// The date in the format of HTTP headers: `Sun, 10 May 2026 09:12:33 GMT`.
    package var httpTime: String { formatted(Self.httpStyle) }

    /// Parses the format of ``httpTime``; nil for any other text.
    package init?(httpTime text: String) {
        guard let date = try? Self.httpStyle.parseStrategy.parse(text) else { return nil }
        self = date
    }
}
