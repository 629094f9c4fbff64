package import Foundation

/// Calendar day without a time zone.
package struct CalendarDay: Comparable, Sendable {
    private let value: Int

    /// Parses `YYYY-MM-DD`. Nil for any other text and for days that do not exist, such as 30 February.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], let year = parts[0].number, let month = parts[1].number,
            let day = parts[2].number
        else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year >= 1, (1...12).contains(month), (1...lengths[month - 1]).contains(day) else { return nil }
        value = (year * 100 + month) * 100 + day
    }

    /// Day of an instant in the time zone that is furthest ahead, UTC+14, so that
    /// today's births are accepted everywhere.
    package init(_ date: Date) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 14 * 3600) ?? .gmt
        let parts = calendar.dateComponents([.year, .month, .day], from: date)
        value = ((parts.year ?? 9999) * 100 + (parts.month ?? 12)) * 100 + (parts.day ?? 31)
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar; negative before that day.
    package var daysSince1970: Int {
        let (year, month, day) = (value / 10_000, value / 100 % 100, value % 100)
        // Years counted from March: 400 of them have 146,097 days.
        let shifted = month > 2 ? year : year - 1
        let (era, rest) = (shifted / 400, shifted % 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + rest * 365 + rest / 4 - rest / 100 + dayOfYear - 719_468
    }

    package static func < (first: CalendarDay, second: CalendarDay) -> Bool { first.value < second.value }
}
