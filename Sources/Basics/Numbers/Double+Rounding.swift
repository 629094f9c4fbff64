extension Double {
    /// Rounds to thousandths: seconds to whole milliseconds.
    package var inThousandths: Double { (self * 1000).rounded() / 1000 }
}
