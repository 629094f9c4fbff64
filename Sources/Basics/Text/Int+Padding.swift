extension Int {
    /// Formats the number with leading zeros: `7.padded(to: 3)` is `007`. Longer numbers stay as they are.
    package func padded(to count: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, count - digits.count)) + digits
    }
}
