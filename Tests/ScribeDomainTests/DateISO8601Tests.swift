import Foundation
import ScribeDomain
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
}
