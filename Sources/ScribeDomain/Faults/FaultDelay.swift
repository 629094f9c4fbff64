import Basics
import Foundation

/// Delay of a fault: `2s`, evenly distributed `1s..3s`, or log-normal `200ms~2s` with the median and the 95th
/// percentile.
package enum FaultDelay: Hashable, Sendable {
    case fixed(Duration)
    case uniform(Duration, Duration)
    case logNormal(median: Duration, percentile95: Duration)

    /// Longest delay.
    private static let longest: Duration = .seconds(86_400)
    package static let rule = "must be 2s, 1s..3s or 200ms~2s (median and 95th percentile), up to 24h"

    /// - Returns: nil for a text that is no delay.
    package init?(_ text: String) {
        func duration(_ text: Substring) -> Duration? {
            guard let duration = ClockDuration(String(text))?.duration, duration <= Self.longest else { return nil }
            return duration
        }
        if let range = text.firstRange(of: "..") {
            guard let low = duration(text[..<range.lowerBound]), let high = duration(text[range.upperBound...]),
                low < high
            else { return nil }
            self = .uniform(low, high)
        } else if let sign = text.firstIndex(of: "~") {
            guard let median = duration(text[..<sign]), let high = duration(text[text.index(after: sign)...]),
                median > .zero, median < high
            else { return nil }
            self = .logNormal(median: median, percentile95: high)
        } else {
            guard let fixed = duration(text[...]) else { return nil }
            self = .fixed(fixed)
        }
    }

    /// A delay of the distribution.
    package func drawn(using generator: inout some RandomNumberGenerator) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .uniform(let low, let high): return low + (high - low) * Double.random(in: 0...1, using: &generator)
        case .logNormal(let median, let high):
            // A standard normal by Box and Muller; 95 % of it are below 1.645.
            let radius = (-2 * log(Double.random(in: Double.leastNormalMagnitude..<1, using: &generator))).squareRoot()
            let normal = radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
            let deviation = log(high / median) / 1.645
            // A duration cannot hold all that a Double can.
            return median * min(exp(normal * deviation), Self.longest / median)
        }
    }
}
