extension FixedWidthInteger {
    /// Converts a number and drops its fraction. A number beyond the range becomes the nearest limit, NaN becomes 0.
    ///
    /// Numbers of files and messages come in any size; `Int(_:)` ends the process for what it cannot hold.
    @inlinable package init(saturating value: Double) {
        self = value.isNaN ? 0 : Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
    }
}

extension Sequence {
    /// Sum of the elements' sizes. A sum beyond the range is `Int.max`: sizes that a file names come in any size.
    package func total(_ size: (Element) -> Int) -> Int {
        reduce(0) { sum, element in
            let (sum, overflows) = sum.addingReportingOverflow(size(element))
            return overflows ? .max : sum
        }
    }

    /// Sum of the elements' numbers.
    package func total(_ number: (Element) -> Double) -> Double { reduce(0) { $0 + number($1) } }
}
