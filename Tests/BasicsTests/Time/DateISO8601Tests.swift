import Basics
import Foundation
import Testing

@Suite struct DateISO8601Tests {
    @Test("dates are written as Foundation writes them, in whole seconds and in milliseconds")
    func foundation() {
        var times: [Double] = [
            -63_113_904_000.5, -12_654_403_200, 252_423_993_599.999, 252_423_993_600, -0.25, 0, 0.9999, 59.9996,
        ]
        // Leap years and the days around their ends; then every second with another fraction.
        for year in [1600, 1900, 1999, 2000, 2023, 2024, 2100, 2400] {
            let start = Double(year - 2001) * 31_556_952
            times += stride(from: start, to: start + 3 * 31_556_952, by: 43_199.871)
        }
        times += (0..<5000).map { 800_000_000 + Double($0) * 1.0007 }
        for time in times {
            let date = Date(timeIntervalSinceReferenceDate: time)
            #expect(date.iso8601 == date.formatted(.iso8601))
            #expect(
                date.iso8601Milliseconds == date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        }
    }

    @Test(
        "years before 1582 are those of the Gregorian calendar, as in RFC 3339",
        arguments: [(-63_113_904_000, "0001-01-01T00:00:00Z"), (-15_799_708_800, "1500-05-01T00:00:00Z")])
    func early(seconds: Double, text: String) {
        #expect(Date(timeIntervalSinceReferenceDate: seconds).iso8601 == text)
    }

    @Test(
        "a time is read with its fraction and its offset",
        arguments: [
            ("2030-01-01T00:00:00Z", 1_893_456_000), ("2030-01-01T00:00:00.25Z", 1_893_456_000.25),
            ("2030-01-01T05:30:00+05:30", 1_893_456_000), ("2029-12-31T19:00:00.5-05:00", 1_893_456_000.5),
            ("2028-02-29T23:59:59Z", 1_835_481_599), ("1970-01-01T00:00:00-00:00", 0),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("1969-12-31T23:59:59Z", -1),
            ("9999-12-31T23:59:59.999999999Z", 253_402_300_799.999999999), ("2100-03-01T00:00:00Z", 4_107_542_400),
        ])
    func read(text: String, seconds: Double) {
        #expect(Date(iso8601: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(
        "a time that no calendar and no clock has is none, and neither is another form",
        arguments: [
            "2030-02-30T00:00:00Z", "2030-02-29T00:00:00Z", "2030-04-31T00:00:00Z", "2030-13-01T00:00:00Z",
            "2030-00-01T00:00:00Z", "2030-01-00T00:00:00Z", "2030-01-01T24:00:00Z", "2030-01-01T25:00:00Z",
            "2030-01-01T00:60:00Z", "2030-01-01T00:61:00Z", "2030-01-01T00:00:60Z", "2030-01-01T00:00:61Z",
            "2030-01-01T00:00:00+24:00", "2030-01-01T00:00:00+05:60", "2030-01-01T00:00:00", "2030-01-01", "",
            "2030-1-1T0:0:0Z", "2030-01-01 00:00:00Z", "2030-01-01T00:00:00.Z", "2030-01-01T00:00:00Z ", "now",
            " 2030-01-01T00:00:00Z", "2030-01-01T00:00:00ZZ", "20300101T000000Z", "٢٠٣٠-01-01T00:00:00Z",
            "2030-01-01T00:00:00,5Z", "+2030-01-01T00:00:00Z", "2030-W01-1T00:00:00Z", "2030-01-01T00:00:00+0530",
        ])
    func noTime(text: String) {
        #expect(Date(iso8601: text) == nil)
    }
}
