import Basics
import Testing

struct ClockDurationTests {
    @Test(
        "a duration is a number with a unit, or one of ISO 8601",
        arguments: [
            ("90s", 90_000), ("1.5h", 5_400_000), ("30d", 2_592_000_000), ("250ms", 250), ("0s", 0),
            ("PT1H", 3_600_000),
            ("P1DT2H30M5S", 95_405_000), ("P1W", 604_800_000), ("PT0.5S", 500),
        ] as [(String, Int64)])
    func durations(text: String, milliseconds: Int64) {
        #expect(ClockDuration(text)?.duration == .milliseconds(milliseconds))
    }

    @Test(
        "a text that is neither a number with a unit nor an ISO 8601 duration is no duration",
        arguments: [
            "", "s", "1", "-1s", "1e9s", "1 s", "P", "PT", "P1H", "PT1D", "1.2.3s", "99999999999d", "soon", "∞s",
        ])
    func others(text: String) { #expect(ClockDuration(text) == nil) }

    @Test("a duration's text is read back as the same duration", arguments: [0, 0.0004, 1, 14, 0.25, 86_400.001])
    func text(seconds: Double) throws {
        let duration = try #require(ClockDuration(ClockDuration.text(seconds))).duration
        #expect(duration / .seconds(1) >= seconds && duration / .seconds(1) < seconds + 0.002)
    }
}
