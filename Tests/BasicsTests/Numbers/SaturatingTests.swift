import Basics
import Testing

@Suite struct SaturatingTests {
    @Test(
        "a number that an integer cannot hold becomes the nearest limit",
        arguments: [
            (1e300, Int.max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0), (9.3e18, .max),
            (-0.5, 0), (1.9, 1), (-1.9, -1), (-9_223_372_036_854_775_808, .min),
        ])
    func saturating(number: Double, integer: Int) {
        #expect(Int(saturating: number) == integer)
    }

    @Test("a sum of sizes beyond the range is the largest integer")
    func total() {
        #expect([1, 2, 3].total(\.self) == 6)
        #expect([Int.max, 1, 5].total(\.self) == .max)
    }

    @Test("a negative number becomes zero without a sign")
    func unsigned() {
        #expect(UInt64(saturating: -1) == 0)
        #expect(UInt8(saturating: 256) == 255)
    }
}
