extension Double {
    /// The number rounded to thousandths: a time in seconds to milliseconds.
    package var inThousandths: Double { (self * 1000).rounded() / 1000 }
}
