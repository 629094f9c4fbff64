package import Foundation

extension Date {
    /// Reads a time of RFC 3339, such as `2030-01-01T00:00:00Z` and `2030-01-01T05:30:00.25+05:30`. Nil for any other
    /// text, and for a day or a time that no calendar and no clock has.
    package init?(iso8601 text: String) {
        let form =
            /([0-9-]{10})T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,9})?)(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))/
        guard let match = text.wholeMatch(of: form), let day = CalendarDay(String(match.1)) else { return nil }
        func seconds(_ hours: Substring?, _ minutes: Substring?) -> Double {
            (hours.flatMap { Double($0) } ?? 0) * 3600 + (minutes.flatMap { Double($0) } ?? 0) * 60
        }
        let offset = seconds(match.6, match.7) * (match.5 == "-" ? -1 : 1)
        let whole = Double(day.daysSince1970) * 86_400 + seconds(match.2, match.3) - offset
        self.init(timeIntervalSince1970: whole + (Double(match.4) ?? 0))
    }

    /// The date and time in UTC in the format of ISO 8601, in whole seconds: `2026-05-10T09:12:33Z`.
    ///
    /// It is what Foundation's format style writes. That takes a lock which all threads share, for each log line.
    package var iso8601: String { iso8601(withMilliseconds: false) }

    /// The date and time in UTC with milliseconds: `2026-05-10T09:12:33.250Z`.
    package var iso8601Milliseconds: String { iso8601(withMilliseconds: true) }

    private func iso8601(withMilliseconds: Bool) -> String {
        let whole = timeIntervalSinceReferenceDate.rounded(.down)
        // Years have four digits here, from 1 to 9999. Before 1582 Foundation counts by another calendar than RFC 3339.
        guard (-63_113_904_000..<252_423_993_600).contains(whole) else {
            return formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: withMilliseconds))
        }
        let nanoseconds = Int(saturating: (timeIntervalSinceReferenceDate - whole) * 1e9)
        // The reference date is 2001-01-01. Days count from 0000-03-01, 400 years before the last era's begin.
        let seconds = Int(whole) + 730_791 * 86_400
        let (days, second) = (seconds / 86_400, seconds % 86_400)
        let (era, day) = (days / 146_097, days % 146_097)
        let yearOfEra = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
        let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months count from March.
        let month = (5 * dayOfYear + 2) / 153
        let year = era * 400 + yearOfEra + (month < 10 ? 0 : 1)
        return String(unsafeUninitializedCapacity: 24) { text in
            var count = 0
            func write(_ value: Int, _ digits: Int, then end: Unicode.Scalar) {
                var rest = value
                for place in (count..<count + digits).reversed() {
                    text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                text[count + digits] = UInt8(ascii: end)
                count += digits + 1
            }
            write(year, 4, then: "-")
            write(month < 10 ? month + 3 : month - 9, 2, then: "-")
            write(dayOfYear - (153 * month + 2) / 5 + 1, 2, then: "T")
            write(second / 3600, 2, then: ":")
            write(second / 60 % 60, 2, then: ":")
            write(second % 60, 2, then: withMilliseconds ? "." : "Z")
            if withMilliseconds { write(nanoseconds / 1_000_000, 3, then: "Z") }
            return count
        }
    }
}
