import Basics
import Foundation

/// Spans of time in the words of the console.
extension RecordingState {
    /// A span of time, roughly.
    static func span(_ seconds: TimeInterval) -> String {
        switch seconds {
        case ..<60: "\(max(0, Int(saturating: seconds))) s"
        case ..<3600: "\(Int(saturating: seconds / 60)) min"
        case ..<86_400: "\(Int(saturating: seconds / 3600)) h"
        default: "\(Int(saturating: seconds / 86_400)) d"
        }
    }

    /// A span of time, as it was measured.
    static func precise(_ seconds: TimeInterval) -> String {
        if seconds < 1 { return "\(Int(saturating: (seconds * 1000).rounded())) ms" }
        if seconds < 60 { return "\((seconds * 10).rounded() / 10) s" }
        return clock(seconds)
    }

    /// A span of time to the millisecond; to the second from an hour on, and to the minute from a day on.
    static func exact(_ seconds: TimeInterval) -> String {
        let all = Int(saturating: (max(0, min(seconds, 8_640_000_000)) * 1000).rounded())
        let (days, hours) = (all / 86_400_000, all / 3_600_000 % 24)
        let rest = "\((all / 60_000 % 60).padded(to: 2)):\((all / 1000 % 60).padded(to: 2))"
        if days > 0 { return "\(days) d \(hours.padded(to: 2)):\((all / 60_000 % 60).padded(to: 2))" }
        if hours > 0 { return "\(hours):\(rest)" }
        return upToAnHour(all)
    }

    private static func upToAnHour(_ all: Int) -> String {
        let (rest, minutes) = (all % 60_000, all / 60_000)
        if all < 1000 { return "\(all) ms" }
        let precise = "\(rest / 1000).\((rest % 1000).padded(to: 3))"
        if minutes == 0 { return "\(precise) s" }
        return "\(minutes):\(rest < 10_000 ? "0" : "")\(precise)"
    }

    /// Minutes and seconds of a recording.
    static func clock(_ seconds: TimeInterval) -> String {
        let whole = Int(saturating: max(0, min(seconds, 864_000)))
        return "\(whole / 60):\((whole % 60).padded(to: 2))"
    }
}
