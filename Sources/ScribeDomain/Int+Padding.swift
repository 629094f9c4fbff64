extension Int {
    /// The decimal digits with zeros before them: `7.padded(to: 3)` is `007`. A longer number stays as it is.
    package func padded(to count: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, count - digits.count)) + digits
    }
}
