extension FixedWidthInteger {
    /// Converts a number and drops its fraction. A number beyond the range becomes the nearest limit, NaN becomes 0.
    ///
    /// Numbers of files and messages come in any size; `Int(_:)` ends the process for what it cannot hold.
    package init(saturating value: Double) {
        self = value.isNaN ? 0 : Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}
